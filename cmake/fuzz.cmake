# Each fuzz/NAME.c is a libFuzzer harness: the program NAME. `make fuzz` runs them all.

if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "OIF_FUZZ needs clang: cmake --preset fuzz")
endif()
# The library reports its branches to the fuzzer; main() comes only with the harness.
target_compile_options(oif_objects PRIVATE -fsanitize=fuzzer-no-link)

file(GLOB harnesses CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fuzz/*.c)
foreach(harness ${harnesses})
  get_filename_component(name ${harness} NAME_WE)
  add_executable(${name} ${harness})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(${name} PRIVATE oif_static)
  if(name STREQUAL fuzz_options)
    target_sources(${name} PRIVATE ${parser_sources})
    target_compile_definitions(${name} PRIVATE _POSIX_C_SOURCE=200809L)
    target_link_libraries(${name} PRIVATE decompression m)
  endif()
endforeach()
