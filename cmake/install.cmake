# cmake --install: headers, libraries, program, manual pages, completions, pkg-config and CMake package files, and what comes with the
# service. The installed tree may be moved as a whole: both kinds of package files find it from their own place.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/oif)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES include/oif.h include/oif.hpp include/oif_rows.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS oif_static oif_shared EXPORT oif)
if(OIF_PROGRAMS)
  install(TARGETS oif_program)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR} OPTIONAL)
  install(FILES examples/nyc_taxi.csv examples/nyc_taxi.LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
endif()
if(OIF_HAS_SERVE)
  install(TARGETS oif_server DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/oif)
  install(DIRECTORY deploy/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples) # Prometheus rules, a dashboard, manifests
endif()
if(OIF_HAS_SERVE AND CMAKE_SYSTEM_NAME STREQUAL Linux)
  install(FILES serve/program/oif-serve.service DESTINATION lib/systemd/system)
endif()

set(private_libraries "")
if(OIF_THREADS)
  set(private_libraries -pthread)
endif()
file(RELATIVE_PATH pkgconfig_to_prefix /prefix/${pkgconfig_dir} /prefix) # ../../
string(REGEX REPLACE "/$" "" pkgconfig_to_prefix ${pkgconfig_to_prefix})
configure_file(cmake/oif.pc.in oif.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/oif.pc DESTINATION ${pkgconfig_dir})

# Before 1.0 only the same minor version is compatible (see abi_version).
set(compatibility SameMajorVersion)
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatibility SameMinorVersion)
endif()
write_basic_package_version_file(oifConfigVersion.cmake COMPATIBILITY ${compatibility})
configure_file(cmake/oifConfig.cmake oifConfig.cmake @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/oifConfig.cmake ${PROJECT_BINARY_DIR}/oifConfigVersion.cmake
        DESTINATION ${package_dir})
install(EXPORT oif NAMESPACE oif:: FILE oifTargets.cmake DESTINATION ${package_dir})
