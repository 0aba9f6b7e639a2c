# The ROS wheels export include paths of the machine they were built on, which CMake refuses because they do not
# exist here. Included by the pip build alone, this drops them once every find_package has run.

function(drop_missing_includes)
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(includes ${target} INTERFACE_INCLUDE_DIRECTORIES)
    if(NOT includes)
      continue()
    endif()
    set(existing)
    foreach(path IN LISTS includes)
      if(path MATCHES "^\\$<" OR EXISTS "${path}")
        list(APPEND existing "${path}")
      endif()
    endforeach()
    set_property(TARGET ${target} PROPERTY INTERFACE_INCLUDE_DIRECTORIES "${existing}")
  endforeach()
endfunction()

cmake_language(DEFER CALL drop_missing_includes)
