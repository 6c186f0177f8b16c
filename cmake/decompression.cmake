# What the program, not the library, reads compressed files with: zlib and libzstd where they can be
# linked. Without them it is built all the same, and prints the command that decompresses the file.

option(OIF_ZLIB "Read .gz files if zlib is found" ON)
option(OIF_ZSTD "Read .zst files if libzstd is found" ON)

include(CheckCSourceCompiles)

# Prints that a part is built without a library: "oif serve: not built, ...".
function(oif_left_out part library package)
  message(STATUS "${part}, ${library} is missing (apt-get install ${package})")
endfunction()

# A wheel runs on machines that need not have the shared libraries, so it takes archives or nothing.
set(library_suffixes ${CMAKE_FIND_LIBRARY_SUFFIXES})
if(SKBUILD)
  set(CMAKE_FIND_LIBRARY_SUFFIXES ${CMAKE_STATIC_LIBRARY_SUFFIX})
endif()

add_library(oif_decompression INTERFACE)

# Another machine's library may be found, so a link decides.
function(oif_use_library name library include_dir source)
  if(NOT library OR NOT include_dir)
    return()
  endif()
  set(CMAKE_REQUIRED_INCLUDES ${include_dir})
  set(CMAKE_REQUIRED_LIBRARIES ${library})
  check_c_source_compiles("${source}" OIF_CAN_LINK_${name})
  if(OIF_CAN_LINK_${name})
    target_compile_definitions(oif_decompression INTERFACE OIF_HAS_${name})
    target_include_directories(oif_decompression SYSTEM INTERFACE ${include_dir})
    target_link_libraries(oif_decompression INTERFACE ${library})
  endif()
endfunction()

if(OIF_ZLIB)
  find_package(ZLIB QUIET)
  if(ZLIB_FOUND)
    oif_use_library(ZLIB "${ZLIB_LIBRARIES}" "${ZLIB_INCLUDE_DIRS}"
                "#include <zlib.h>\nint main(void) { return !zlibVersion(); }")
  endif()
  if(NOT OIF_CAN_LINK_ZLIB)
    oif_left_out(".gz files: not read" zlib zlib1g-dev)
  endif()
endif()
if(OIF_ZSTD)
  find_library(ZSTD_LIBRARY zstd)
  find_path(ZSTD_INCLUDE_DIR zstd.h)
  oif_use_library(ZSTD "${ZSTD_LIBRARY}" "${ZSTD_INCLUDE_DIR}"
              "#include <zstd.h>\nint main(void) { return !ZSTD_versionNumber(); }")
  if(NOT OIF_CAN_LINK_ZSTD)
    oif_left_out(".zst files: not read" libzstd libzstd-dev)
  endif()
endif()
set(CMAKE_FIND_LIBRARY_SUFFIXES ${library_suffixes})
