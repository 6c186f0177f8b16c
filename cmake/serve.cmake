# `oif serve`: the folder serve/ with libmicrohttpd, GnuTLS, jansson and libcurl where they can be linked, as the program oif-serve.
# They load 30 libraries more, which would make each start of oif ten times slower. Without them `oif serve` prints what to install.

option(OIF_SERVE "Build oif serve if libmicrohttpd, GnuTLS, jansson and libcurl are found" ON)

set(OIF_HAS_SERVE OFF)
if(NOT OIF_SERVE OR SKBUILD) # a wheel runs on machines that need not have the shared libraries
  return()
endif()

find_library(MICROHTTPD_LIBRARY microhttpd)
find_path(MICROHTTPD_INCLUDE_DIR microhttpd.h)
find_library(JANSSON_LIBRARY jansson)
find_path(JANSSON_INCLUDE_DIR jansson.h)
find_package(CURL QUIET)
find_package(GnuTLS QUIET)
# Prometheus remote write; without it that endpoint says what is missing.
find_library(SNAPPY_LIBRARY snappy)
find_path(SNAPPY_INCLUDE_DIR snappy-c.h)

set(has_all ON)
function(oif_needs_for_serve library package)
  foreach(found ${ARGN})
    if(NOT ${found})
      oif_left_out("oif serve: not built" ${library} ${package})
      set(has_all OFF PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()
oif_needs_for_serve(libmicrohttpd libmicrohttpd-dev MICROHTTPD_LIBRARY MICROHTTPD_INCLUDE_DIR)
oif_needs_for_serve(GnuTLS libgnutls28-dev GNUTLS_FOUND)
oif_needs_for_serve(jansson libjansson-dev JANSSON_LIBRARY JANSSON_INCLUDE_DIR)
oif_needs_for_serve(libcurl libcurl4-openssl-dev CURL_FOUND)

# Another machine's library may be found, so a link decides.
if(has_all)
  set(CMAKE_REQUIRED_INCLUDES ${MICROHTTPD_INCLUDE_DIR} ${JANSSON_INCLUDE_DIR} ${CURL_INCLUDE_DIRS} ${GNUTLS_INCLUDE_DIR})
  set(CMAKE_REQUIRED_LIBRARIES ${MICROHTTPD_LIBRARY} ${JANSSON_LIBRARY} ${CURL_LIBRARIES} ${GNUTLS_LIBRARIES})
  check_c_source_compiles(
    "#include <curl/curl.h>\n#include <gnutls/gnutls.h>\n#include <jansson.h>\n#include <microhttpd.h>
     int main(void) { return !MHD_get_version() || !curl_version() || !gnutls_check_version(0) || !json_object(); }" OIF_CAN_LINK_SERVE)
  unset(CMAKE_REQUIRED_INCLUDES)
  unset(CMAKE_REQUIRED_LIBRARIES)
  if(NOT OIF_CAN_LINK_SERVE)
    message(STATUS "oif serve: not built, its libraries are of another machine")
  endif()
endif()

if(has_all AND OIF_CAN_LINK_SERVE)
  set(OIF_HAS_SERVE ON)
  file(GLOB serve_sources CONFIGURE_DEPENDS serve/*/*.c)
  oif_page_files(embedded front/page serve/page)
  list(APPEND embedded /=${PROJECT_SOURCE_DIR}/serve/page/index.html
       /api/v1/openapi.json=${PROJECT_SOURCE_DIR}/serve/api/openapi.json)
  oif_embed_files(${PROJECT_BINARY_DIR}/serve/embedded.c ${embedded})
  add_library(oif_serving INTERFACE)
  target_include_directories(oif_serving SYSTEM INTERFACE ${MICROHTTPD_INCLUDE_DIR} ${JANSSON_INCLUDE_DIR} ${CURL_INCLUDE_DIRS} ${GNUTLS_INCLUDE_DIR})
  target_link_libraries(oif_serving INTERFACE oif_front ${MICROHTTPD_LIBRARY} ${JANSSON_LIBRARY} ${CURL_LIBRARIES} ${GNUTLS_LIBRARIES} Threads::Threads)
  if(SNAPPY_LIBRARY AND SNAPPY_INCLUDE_DIR)
    target_include_directories(oif_serving SYSTEM INTERFACE ${SNAPPY_INCLUDE_DIR})
    target_link_libraries(oif_serving INTERFACE ${SNAPPY_LIBRARY})
    target_compile_definitions(oif_serving INTERFACE OIF_HAS_SNAPPY)
  else()
    oif_left_out("oif serve: built without remote write of Prometheus" libsnappy libsnappy-dev)
  endif()
  add_library(oif_server_objects OBJECT ${serve_sources} ${PROJECT_BINARY_DIR}/serve/embedded.c)
  target_link_libraries(oif_server_objects PUBLIC oif_serving)
  add_executable(oif_server $<TARGET_OBJECTS:oif_server_objects>)
  set_target_properties(oif_server PROPERTIES OUTPUT_NAME oif-serve)
  target_link_libraries(oif_server PRIVATE oif_serving)
endif()
