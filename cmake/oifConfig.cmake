# find_package(oif) gives oif::shared, oif::static and oif::oif, which is the shared one.
include(CMakeFindDependencyMacro)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/oifTargets.cmake)
if(NOT TARGET oif::oif)
  add_library(oif::oif ALIAS oif::shared)
endif()
