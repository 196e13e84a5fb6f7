# find_package(TileLaunch) defines tile::TileLaunchC (include/tile-c/Launch.h and
# TensorMap.h), a shared library for launchers in C. It has no dependencies.
include("${CMAKE_CURRENT_LIST_DIR}/TileLaunchTargets.cmake")
