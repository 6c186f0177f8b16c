# The programs oif and oif-serve, and what they share.

# ---- Between the library and the programs: sees only include/ ----------------------------------------

include(cmake/decompression.cmake)
file(GLOB front_sources CONFIGURE_DEPENDS front/*/*.c)
add_library(oif_front STATIC ${front_sources})
set_target_properties(oif_front PROPERTIES OUTPUT_NAME front)
# "front/text/output.h": other folders' headers are included by their path from here.
target_include_directories(oif_front PUBLIC ${PROJECT_SOURCE_DIR})
# The programs need what plain C lacks: a monotonic clock, the size of the terminal, signals.
target_compile_definitions(oif_front PUBLIC _POSIX_C_SOURCE=200809L)
target_link_libraries(oif_front PUBLIC oif_static oif_decompression m)

# ---- The programs: oif, and the server, which it executes --------------------------------------------

include(cmake/embed.cmake)
oif_bundle_page(${PROJECT_BINARY_DIR}/cli/report.html cli/page/report.html front/page/base.css cli/page/report.css
            front/page/format.js front/page/dom.js front/page/chart.js cli/page/report.js)
oif_embed_files(${PROJECT_BINARY_DIR}/cli/embedded.c /report.html=${PROJECT_BINARY_DIR}/cli/report.html)
file(GLOB program_sources CONFIGURE_DEPENDS cli/*/*.c)
add_library(oif_program_objects OBJECT ${program_sources} ${PROJECT_BINARY_DIR}/cli/embedded.c)
target_link_libraries(oif_program_objects PUBLIC oif_front)
add_executable(oif_program $<TARGET_OBJECTS:oif_program_objects>)
set_target_properties(oif_program PROPERTIES OUTPUT_NAME oif)
target_link_libraries(oif_program PRIVATE oif_front)
include(cmake/serve.cmake)
# Manual pages and completions come from the program's own tables, so it must run where it is built.
if(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR)
  add_custom_command(TARGET oif_program POST_BUILD VERBATIM
                     COMMAND ${CMAKE_COMMAND} "-DPROGRAM=${CMAKE_CROSSCOMPILING_EMULATOR};$<TARGET_FILE:oif_program>"
                             -DFOLDER=${PROJECT_BINARY_DIR}/share -DVERSION=${PROJECT_VERSION} -P ${PROJECT_SOURCE_DIR}/cmake/make_manual.cmake)
endif()
