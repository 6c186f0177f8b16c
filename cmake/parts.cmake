# What tests and fuzzers take from the programs: all but their main functions. A harness that defines functions of the
# program itself, such as an output of its own, is linked with those.

add_library(oif_program_parts STATIC $<FILTER:$<TARGET_OBJECTS:oif_program_objects>,EXCLUDE,commands/main[.]c>)
target_link_libraries(oif_program_parts PUBLIC oif_front)
set_target_properties(oif_program_parts PROPERTIES LINKER_LANGUAGE C)
if(OIF_HAS_SERVE)
  add_library(oif_server_parts STATIC $<FILTER:$<TARGET_OBJECTS:oif_server_objects>,EXCLUDE,program/main[.]c>)
  target_link_libraries(oif_server_parts PUBLIC oif_serving)
  set_target_properties(oif_server_parts PROPERTIES LINKER_LANGUAGE C)
endif()

# The harnesses of fuzz/, and a function that links one with what it is about.
file(GLOB harnesses CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fuzz/*.c)
if(NOT OIF_HAS_SERVE)
  list(FILTER harnesses EXCLUDE REGEX "fuzz_(request|agents)")
endif()
function(oif_link_harness target name)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  if(name STREQUAL fuzz_options)
    target_link_libraries(${target} PRIVATE oif_program_parts)
  elseif(name MATCHES "fuzz_(request|agents)")
    target_link_libraries(${target} PRIVATE oif_server_parts)
  elseif(name MATCHES "fuzz_(decompress|formats)")
    target_link_libraries(${target} PRIVATE oif_front)
  endif()
  target_link_libraries(${target} PRIVATE oif_static Threads::Threads)
endfunction()
