# Links LLVM, MLIR and LLD as archives, for the library of the wheel, which runs
# where LLVM is not installed, and for tools that start often: the relocations of
# the shared libraries take 16 ms.
#
# Archives are linked by path. The CMake targets would bring shared libraries:
# lldELF the shared LLVM, LLVMSupport the shared zstd and z3.

file(GLOB mlir_archives ${LLVM_LIBRARY_DIR}/libMLIR*.a)
list(FILTER mlir_archives EXCLUDE REGEX "libMLIR(CAPI|Mlir|Opt|Test|.*Python)")
file(GLOB llvm_archives ${LLVM_LIBRARY_DIR}/libLLVM*.a)
set(lld_archives ${LLVM_LIBRARY_DIR}/liblldELF.a ${LLVM_LIBRARY_DIR}/liblldCommon.a)
set(other_archives "")
foreach(name boost_context z zstd)
  find_library(TILE_STATIC_${name} lib${name}.a)
  list(APPEND other_archives ${TILE_STATIC_${name}})
endforeach()
set(TILE_STATIC_LLVM ON)
foreach(archive ${lld_archives} ${other_archives})
  if(NOT EXISTS ${archive} OR NOT llvm_archives OR NOT mlir_archives)
    set(TILE_STATIC_LLVM OFF)
  endif()
endforeach()
set(TILE_STATIC_LLVM_MISSING
  "there are no static libraries of LLVM, MLIR, LLD, Boost.Context, zlib and zstd")
set(TILE_STATIC_ARCHIVES -Wl,--start-group ${lld_archives} ${mlir_archives}
  ${llvm_archives} -Wl,--end-group ${other_archives})

# LLD initializes every back end of LLVM. Empty functions stand for those that no
# chip needs, which would add 46 MB.
set(back_ends NVPTX AMDGPU X86 AArch64)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(REMOVE_ITEM back_ends AArch64)
else()
  list(REMOVE_ITEM back_ends X86)
endif()
set(stubs "")
foreach(back_end ${LLVM_TARGETS_TO_BUILD})
  if(NOT back_end IN_LIST back_ends)
    foreach(part TargetInfo Target TargetMC AsmPrinter AsmParser)
      string(APPEND stubs "void LLVMInitialize${back_end}${part}(void) {}\n")
    endforeach()
  endif()
endforeach()
set(TILE_LINK_STUBS ${PROJECT_BINARY_DIR}/BackEndStubs.c
  ${CMAKE_CURRENT_LIST_DIR}/LinkStubs.cpp)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/BackEndStubs.c CONTENT "${stubs}" @ONLY)

# tile_link_static_llvm(<name>)
# Links all libraries of the project, and LLVM, MLIR and LLD as archives.
function(tile_link_static_llvm name)
  get_property(archives GLOBAL PROPERTY TILE_LIBS)
  tile_link_archives(${name} ${archives})
  target_sources(${name} PRIVATE ${TILE_LINK_STUBS})
  target_link_options(${name} PRIVATE -fuse-ld=lld -Wl,--gc-sections)
  target_link_libraries(${name} PRIVATE ${TILE_STATIC_ARCHIVES} pthread dl m)
endfunction()
