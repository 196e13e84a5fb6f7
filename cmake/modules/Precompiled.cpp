// CMake needs one source to compile the precompiled header with.
