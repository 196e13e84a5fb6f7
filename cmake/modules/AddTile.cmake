# Finds LLVM, MLIR and LLD 22, and defines the functions that add the project's
# libraries and tools. Debian's packages are found without a hint; for another
# build set -DMLIR_DIR=<prefix>/lib/cmake/mlir.

if(NOT MLIR_DIR AND EXISTS "/usr/lib/llvm-22/lib/cmake/mlir")
  set(MLIR_DIR "/usr/lib/llvm-22/lib/cmake/mlir")
endif()
# LLVM's version files accept only the exact minor version, so compare the major
# version here.
find_package(MLIR REQUIRED CONFIG)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "LLVM 22 is needed; ${MLIR_DIR} is ${LLVM_PACKAGE_VERSION}")
endif()
find_package(LLD REQUIRED CONFIG HINTS "${MLIR_DIR}/../lld")
# The executor switches between GPU threads, which are fibers, with Boost.Context.
find_package(Boost 1.61 REQUIRED COMPONENTS context)

list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include(HandleLLVMOptions)

# The shared libraries are linked by name. The CMake targets MLIRIR, MLIRPass, ...
# are static archives; with them every TypeID would exist twice.
set(TILE_MLIR_LIBS MLIR LLVM)

include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS} ${LLD_INCLUDE_DIRS})
include_directories(${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
separate_arguments(TILE_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
add_definitions(${TILE_LLVM_DEFINITIONS})
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

# Overrides have unused parameters, as LLVM's own code does.
set(TILE_WARNINGS -Wall -Wextra -Wno-unused-parameter)
if(TILE_WERROR)
  list(APPEND TILE_WARNINGS -Werror)
endif()

# -DTILE_SANITIZE=address,undefined. LLVM's libraries are not instrumented, so the
# vptr check cannot work.
set(TILE_SANITIZE "" CACHE STRING "Sanitizers to build with: address, undefined")
if(TILE_SANITIZE)
  add_compile_options(-fsanitize=${TILE_SANITIZE} -fno-sanitize=vptr
    -fno-sanitize-recover=all -fno-omit-frame-pointer -gline-tables-only)
  add_link_options(-fsanitize=${TILE_SANITIZE})
  add_library(TileSanitizerOptions OBJECT
    ${CMAKE_CURRENT_LIST_DIR}/SanitizerOptions.c)
  link_libraries("$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:\
$<TARGET_OBJECTS:TileSanitizerOptions>>")
endif()

# Parsing the headers of MLIR and of the tile dialect takes most of the build time,
# so they are precompiled.
# Each source still includes the headers that it uses; a build with -DTILE_PCH=OFF
# finds missing includes.
option(TILE_PCH "Precompile the headers of MLIR and of the tile dialect" ${PROJECT_IS_TOP_LEVEL})
if(TILE_PCH)
  add_library(TilePrecompiled OBJECT ${CMAKE_CURRENT_LIST_DIR}/Precompiled.cpp)
  target_precompile_headers(TilePrecompiled PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/Precompiled.h)
  target_include_directories(TilePrecompiled PRIVATE
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
  add_dependencies(TilePrecompiled TileDialectIncGen)
endif()

# Makes the sources of a target use the precompiled headers.
function(tile_use_precompiled name)
  if(TILE_PCH)
    target_precompile_headers(${name} REUSE_FROM TilePrecompiled)
    # The compiler refuses the headers of libraries for executables, which are PIE.
    target_compile_options(${name} PRIVATE ${CMAKE_CXX_COMPILE_OPTIONS_PIC})
  endif()
endfunction()

# tile_add_library(<name> sources... [NO_IR] [DEPENDS targets...] [LINK_LIBS libs...])
# LINK_LIBS names libraries of the project; MLIR and LLVM are always linked. NO_IR
# marks plain C++ that includes no MLIR header.
function(tile_add_library name)
  cmake_parse_arguments(ARG "NO_IR" "" "DEPENDS;LINK_LIBS" ${ARGN})
  foreach(lib ${ARG_LINK_LIBS})
    if(lib MATCHES "^(MLIR|LLVM).+")
      message(FATAL_ERROR "${name} links ${lib}: the shared MLIR and LLVM are linked already")
    endif()
  endforeach()
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_library(tile::${name} ALIAS ${name})
  target_compile_options(${name} PRIVATE ${TILE_WARNINGS})
  if(NOT ARG_NO_IR)
    tile_use_precompiled(${name})
  endif()
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:include>)
  # These include folders serve projects that add this one as a subdirectory;
  # TileConfig.cmake adds them for an installed Tile.
  target_include_directories(${name} SYSTEM PUBLIC
    "$<BUILD_INTERFACE:${LLVM_INCLUDE_DIRS};${MLIR_INCLUDE_DIRS}>")
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS} ${TILE_MLIR_LIBS})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  set_property(GLOBAL APPEND PROPERTY TILE_LIBS ${name})
endfunction()

# tile_link_archives(<name> libs...)
# Links static libraries of the project, but not the shared LLVM and MLIR.
function(tile_link_archives name)
  set(files "")
  foreach(lib ${ARGN})
    list(APPEND files $<TARGET_FILE:${lib}>)
    add_dependencies(${name} ${lib})
  endforeach()
  target_link_libraries(${name} PRIVATE -Wl,--start-group ${files} -Wl,--end-group)
endfunction()

# tile_add_shared_library(<name> sources... [LINK_LIBS libs...] [ARCHIVES libs...])
# Adds a shared library for other languages, which contains the parts of the
# project that it needs and exports the functions of include/tile-c only. ARCHIVES
# are linked without LLVM and MLIR.
function(tile_add_shared_library name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS;ARCHIVES" ${ARGN})
  add_library(${name} SHARED ${ARG_UNPARSED_ARGUMENTS})
  add_library(tile::${name} ALIAS ${name})
  target_compile_options(${name} PRIVATE ${TILE_WARNINGS})
  target_include_directories(${name} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:include>)
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS})
  if(ARG_ARCHIVES)
    tile_link_archives(${name} ${ARG_ARCHIVES})
  endif()
  set(exports ${PROJECT_SOURCE_DIR}/lib/CAPI/exports.map)
  target_link_options(${name} PRIVATE -Wl,--version-script=${exports})
  set_target_properties(${name} PROPERTIES
    LINK_DEPENDS ${exports} SOVERSION ${PROJECT_VERSION_MAJOR} VERSION ${PROJECT_VERSION})
  if(TILE_SANITIZE)
    # The program that loads the library provides the sanitizer's functions.
    target_link_options(${name} PRIVATE -Wl,-z,undefs)
  endif()
endfunction()

# tile_add_tool(<name> sources... [LINK_LIBS libs...])
function(tile_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE ${TILE_WARNINGS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS})
  set_property(GLOBAL APPEND PROPERTY TILE_TOOLS ${name})
endfunction()
