# `oif serve`: the folder serve/ with libmicrohttpd, GnuTLS, jansson and libcurl where they can be linked, as the program oif-serve.
# They load 30 libraries more, which would make each start of oif ten times slower. Without them `oif serve` prints what to install.

option(OIF_SERVE "Build oif serve if libmicrohttpd, GnuTLS, jansson and libcurl are found" ON)

find_library(MICROHTTPD_LIBRARY microhttpd)
find_path(MICROHTTPD_INCLUDE_DIR microhttpd.h)
find_library(JANSSON_LIBRARY jansson)
find_path(JANSSON_INCLUDE_DIR jansson.h)
find_package(CURL QUIET)
find_package(GnuTLS QUIET)
# Prometheus remote write; without it that endpoint says what is missing.
find_library(SNAPPY_LIBRARY snappy)
find_path(SNAPPY_INCLUDE_DIR snappy-c.h)

# A wheel runs on machines that need not have the shared libraries, and another machine's library may be found.
if(OIF_SERVE AND NOT SKBUILD AND MICROHTTPD_LIBRARY AND JANSSON_LIBRARY AND CURL_FOUND AND GNUTLS_FOUND
   AND MICROHTTPD_INCLUDE_DIR AND JANSSON_INCLUDE_DIR)
  set(CMAKE_REQUIRED_INCLUDES ${MICROHTTPD_INCLUDE_DIR} ${JANSSON_INCLUDE_DIR} ${CURL_INCLUDE_DIRS} ${GNUTLS_INCLUDE_DIR})
  set(CMAKE_REQUIRED_LIBRARIES ${MICROHTTPD_LIBRARY} ${JANSSON_LIBRARY} ${CURL_LIBRARIES} ${GNUTLS_LIBRARIES})
  check_c_source_compiles(
    "#include <curl/curl.h>\n#include <gnutls/gnutls.h>\n#include <jansson.h>\n#include <microhttpd.h>
     int main(void) { return !MHD_get_version() || !curl_version() || !gnutls_check_version(0) || !json_object(); }" OIF_CAN_LINK_SERVE)
  unset(CMAKE_REQUIRED_INCLUDES)
  unset(CMAKE_REQUIRED_LIBRARIES)
endif()

set(OIF_HAS_SERVE OFF)
if(OIF_SERVE AND NOT SKBUILD AND OIF_CAN_LINK_SERVE)
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
  endif()
  add_library(oif_server_objects OBJECT ${serve_sources} ${PROJECT_BINARY_DIR}/serve/embedded.c)
  target_link_libraries(oif_server_objects PUBLIC oif_serving)
  add_executable(oif_server $<TARGET_OBJECTS:oif_server_objects>)
  set_target_properties(oif_server PROPERTIES OUTPUT_NAME oif-serve)
  target_link_libraries(oif_server PRIVATE oif_serving)
endif()
