# Each fuzz/NAME.c is a libFuzzer harness: the program NAME. `make fuzz` runs them all.

if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "OIF_FUZZ needs clang: cmake --preset fuzz")
endif()
# The library and the programs report their branches to the fuzzer; main() comes only with the harness.
foreach(part oif_objects oif_front oif_program_objects)
  target_compile_options(${part} PRIVATE -fsanitize=fuzzer-no-link)
endforeach()
if(OIF_HAS_SERVE)
  target_compile_options(oif_server_objects PRIVATE -fsanitize=fuzzer-no-link)
endif()

foreach(harness ${harnesses})
  get_filename_component(name ${harness} NAME_WE)
  add_executable(${name} ${harness})
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  oif_link_harness(${name} ${name})
endforeach()
