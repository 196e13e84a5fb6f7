# cmake -DOUTPUT=file -P EmbedSchedules.cmake -- files...
# Writes the files as a C++ array: {chip, text} for each, where the chip is the
# name of the file.
set(entries "")
set(isFile FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  set(argument "${CMAKE_ARGV${i}}")
  if(isFile)
    get_filename_component(chip "${argument}" NAME_WE)
    file(READ "${argument}" text)
    string(APPEND entries "    {\"${chip}\", R\"schedules(${text})schedules\"},\n")
  elseif(argument STREQUAL "--")
    set(isFile TRUE)
  endif()
endforeach()
file(WRITE "${OUTPUT}" "static constexpr BuiltinFile kFiles[] = {\n${entries}};\n")
