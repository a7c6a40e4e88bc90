# The libraries, from the table in src/layers.txt. A layer is a directory of sources, the layers that
# it uses, and, beside the sources, *_test.cpp files that become one test program; *_testing.cpp are
# parts of it.

# attune_test(NAME SOURCES file... LINK lib... [LABEL fast|slow]): a GoogleTest program run by ctest.
function(attune_test name)
  cmake_parse_arguments(arg "" "LABEL" "SOURCES;LINK" ${ARGN})
  if(NOT arg_LABEL)
    set(arg_LABEL fast)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE attune_flags ${arg_LINK} GTest::gtest GTest::gtest_main)
  attune_build_quickly(${name})
  set_property(GLOBAL APPEND PROPERTY ATTUNE_TEST_PROGRAMS ${name})
  add_test(NAME ${name} COMMAND ${name})
  # What the processor's name says of its speed: tests measure nothing that they do not mean to. And
  # wherever they run, their files are theirs alone.
  set_tests_properties(${name} PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${ATTUNE_TEST_SECONDS}
    ENVIRONMENT "ATTUNE_MACHINE=stated;ATTUNE_FILE_SYSTEM=local")
endfunction()

# attune_build_quickly(TEST): tests are compiled more often than their own code runs. The headers that
# nearly all of them include are compiled once, by the first of them, which has the fewest definitions,
# and optimising ends early; some warnings of GCC 12 cry wolf where it does.
function(attune_build_quickly test)
  get_property(first GLOBAL PROPERTY ATTUNE_FIRST_TEST)
  if(first)
    target_precompile_headers(${test} REUSE_FROM ${first})
  else()
    target_precompile_headers(${test} PRIVATE
      <algorithm> <filesystem> <fstream> <functional> <map> <memory> <optional> <set> <string>
      <unordered_map> <variant> <vector> <fmt/format.h> <gtest/gtest.h>)
    set_property(GLOBAL PROPERTY ATTUNE_FIRST_TEST ${test})
  endif()
  target_compile_options(${test} PRIVATE $<$<CONFIG:Release>:-O1 -Wno-array-bounds
    -Wno-stringop-overflow -Wno-mismatched-new-delete>)
endfunction()

# attune_layer_sources(DIRECTORY out_sources out_tests): its files, without those of layers below it
# and of folders that hold programs, kernels or drivers.
function(attune_layer_sources dir out_sources out_tests)
  set(top ${CMAKE_SOURCE_DIR}/src/${dir})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${top}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "^${top}/(.*/)?(program|test_kernels|test_driver)/")
  get_property(others GLOBAL PROPERTY ATTUNE_LAYER_DIRECTORIES)
  foreach(other ${others})
    string(REPLACE "*" "[^/]*" other "${other}")
    if(NOT dir MATCHES "^${other}$" AND other MATCHES "^${dir}/")
      list(FILTER sources EXCLUDE REGEX "^${CMAKE_SOURCE_DIR}/src/${other}/")
    endif()
  endforeach()
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test(ing)?\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test(ing)?\\.cpp$")
  set(${out_sources} ${sources} PARENT_SCOPE)
  set(${out_tests} ${tests} PARENT_SCOPE)
endfunction()

# attune_library(NAME DIRECTORY LINK lib... TEST_LINK lib...): the static library attune_NAME, and
# NAME_test. What is a part of the runtime is not built again.
function(attune_library name dir)
  cmake_parse_arguments(arg "" "" "LINK;TEST_LINK" ${ARGN})
  attune_layer_sources(${dir} sources tests)
  attune_runtime_devices(kinds)
  foreach(kind ${kinds})
    if(dir STREQUAL "targets/${kind}/device")
      set(sources)
    endif()
  endforeach()
  if(NOT name STREQUAL "base")
    list(APPEND arg_LINK attune_base)
  endif()
  if(sources)
    add_library(attune_${name} STATIC ${sources})
    target_link_libraries(attune_${name} PUBLIC attune_flags fmt::fmt ${arg_LINK})
  else()
    add_library(attune_${name} INTERFACE)
    target_link_libraries(attune_${name} INTERFACE attune_flags fmt::fmt ${arg_LINK})
  endif()
  if(tests AND ATTUNE_BUILD_TESTS)
    attune_test(${name}_test SOURCES ${tests} LINK attune_${name} ${arg_TEST_LINK})
  endif()
endfunction()

# attune_targets_layer(NAME DIRECTORY LINK lib... TEST_LINK lib...): a line for all targets. Each that
# has such a folder gets a library, attune_cpu_codegen; attune_NAME stands for all of them. What a
# folder uses of such a line is that of its own target.
function(attune_targets_layer name dir)
  cmake_parse_arguments(arg "" "" "LINK;TEST_LINK" ${ARGN})
  add_library(attune_${name} INTERFACE)
  file(GLOB folders RELATIVE ${CMAKE_SOURCE_DIR}/src CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${dir})
  foreach(folder ${folders})
    string(REGEX REPLACE "^targets/([^/]*)/(.*)$" "\\1_\\2" library ${folder})
    string(REGEX REPLACE "_.*" "" kind ${library})
    set(links)
    foreach(link ${arg_LINK})
      string(REGEX REPLACE "^attune_target_" "attune_${kind}_" own ${link})
      # A target need not have every room.
      if(own STREQUAL link OR TARGET ${own})
        list(APPEND links ${own})
      endif()
    endforeach()
    attune_library(${library} ${folder} LINK ${links} TEST_LINK ${arg_TEST_LINK})
    target_link_libraries(attune_${name} INTERFACE attune_${library})
  endforeach()
endfunction()

# attune_layer(NAME DIRECTORY USES...): as a line of the table says. The runtime has rules of its own
# (runtime.cmake).
function(attune_layer name dir)
  set(links)
  set(test_links)
  foreach(use ${ARGN})
    if(use STREQUAL "alone")
      attune_runtime_static()
      set_property(GLOBAL APPEND PROPERTY ATTUNE_LAYERS attune_${name})
      return()
    elseif(use STREQUAL "open")
      continue()
    elseif(use STREQUAL "*")
      get_property(above GLOBAL PROPERTY ATTUNE_LAYERS)
      list(APPEND links ${above})
    elseif(use MATCHES "^\\+(.*)$")
      list(APPEND links attune_part_${CMAKE_MATCH_1})
    elseif(use MATCHES "^test:(.*)$")
      list(APPEND test_links attune_${CMAKE_MATCH_1})
    else()
      list(APPEND links attune_${use})
    endif()
  endforeach()
  if(dir MATCHES "\\*")
    attune_targets_layer(${name} ${dir} LINK ${links} TEST_LINK ${test_links})
  else()
    attune_library(${name} ${dir} LINK ${links} TEST_LINK ${test_links})
  endif()
  set_property(GLOBAL APPEND PROPERTY ATTUNE_LAYERS attune_${name})
endfunction()

# attune_add_layers(): every line of the table.
function(attune_add_layers)
  set(table ${CMAKE_SOURCE_DIR}/src/layers.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
  file(STRINGS ${table} lines REGEX "^[a-z]")
  foreach(line ${lines})
    separate_arguments(words UNIX_COMMAND "${line}")
    list(GET words 1 dir)
    set_property(GLOBAL APPEND PROPERTY ATTUNE_LAYER_DIRECTORIES ${dir})
  endforeach()
  foreach(line ${lines})
    separate_arguments(words UNIX_COMMAND "${line}")
    attune_layer(${words})
  endforeach()
endfunction()
