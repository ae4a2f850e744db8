# find_package(millpond) with millpond_DIR from `python -m millpond --cmakedir`:
#
#   millpond::headers   for extensions of Python, which need no library
#   millpond::millpond  for programs, with the library
get_filename_component(_millpond_package "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)

if(NOT TARGET millpond::headers)
  add_library(millpond::headers INTERFACE IMPORTED)
  set_target_properties(millpond::headers PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${_millpond_package}/include")
endif()

if(NOT TARGET millpond::millpond AND EXISTS "${_millpond_package}/lib/libmillpond.so")
  add_library(millpond::millpond SHARED IMPORTED)
  set_target_properties(millpond::millpond PROPERTIES
    IMPORTED_LOCATION "${_millpond_package}/lib/libmillpond.so"
    IMPORTED_NO_SONAME TRUE
    INTERFACE_LINK_LIBRARIES millpond::headers)
endif()

set(millpond_FOUND TRUE)
unset(_millpond_package)
