# Files become arrays of a C source, so a program has them without a folder: front/page/embedded.h.
#
#   oif_embed_files(OUTPUT PATH=FILE...)    writes OUTPUT again whenever one of the files changes
#
# PATH is what a request asks for, such as /page.js.

if(NOT CMAKE_SCRIPT_MODE_FILE)
  function(oif_embed_files output)
    set(files ${ARGN})
    list(TRANSFORM files REPLACE "^[^=]*=" "")
    add_custom_command(OUTPUT ${output} VERBATIM
                       COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${output}" "-DFILES=${ARGN}" -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
                       DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
  endfunction()

  # oif_bundle_page(OUTPUT FRAME FILE...): cmake/bundle.cmake
  function(oif_bundle_page output)
    list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE files)
    set(script ${PROJECT_SOURCE_DIR}/cmake/bundle.cmake)
    add_custom_command(OUTPUT ${output} VERBATIM COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${output}" "-DFILES=${files}" -P ${script}
                       DEPENDS ${files} ${script})
  endfunction()

  # oif_page_files(VARIABLE FOLDER...): PATH=FILE of each file of a page in these folders
  function(oif_page_files variable)
    set(pairs "")
    foreach(folder ${ARGN})
      set(folder ${PROJECT_SOURCE_DIR}/${folder})
      file(GLOB names CONFIGURE_DEPENDS RELATIVE ${folder} ${folder}/*.html ${folder}/*.css ${folder}/*.js ${folder}/*.svg)
      foreach(name ${names})
        list(APPEND pairs "/${name}=${folder}/${name}")
      endforeach()
    endforeach()
    set(${variable} ${pairs} PARENT_SCOPE)
  endfunction()
  return()
endif()

set(type_html "text/html; charset=utf-8")
set(type_css "text/css; charset=utf-8")
set(type_js "text/javascript; charset=utf-8")
set(type_svg "image/svg+xml")
set(type_json "application/json")

set(arrays "")
set(rows "")
set(number 0)
foreach(pair ${FILES})
  string(REGEX MATCH "^([^=]*)=(.*)$" matched "${pair}")
  set(path "${CMAKE_MATCH_1}")
  set(file "${CMAKE_MATCH_2}")
  get_filename_component(extension "${file}" LAST_EXT)
  string(SUBSTRING "${extension}" 1 -1 extension)
  if(NOT DEFINED type_${extension})
    message(FATAL_ERROR "${file}: embed.cmake knows no Content-Type of .${extension}; add it there")
  endif()

  file(READ "${file}" hex HEX)
  file(SHA256 "${file}" hash)
  string(SUBSTRING "${hash}" 0 16 hash)
  string(LENGTH "${hex}" digits)
  math(EXPR byte_count "${digits} / 2")
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}00") # an empty file has an array as well
  string(APPEND arrays "static const unsigned char file_${number}[] = {${bytes}};\n")
  string(APPEND rows "    {\"${path}\", \"${type_${extension}}\", \"\\\"${hash}\\\"\", file_${number}, ${byte_count}},\n")
  math(EXPR number "${number} + 1")
endforeach()

file(WRITE "${OUTPUT}" "/* Written by cmake/embed.cmake. */
#include \"front/page/embedded.h\"

#include <string.h>

${arrays}
static const embedded_file files[] = {
${rows}};

const embedded_file *embedded_find(const char *path)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(files[i].path, path) == 0)
            return &files[i];
    return NULL;
}
")
