# Flags that every target shares, and the program: everything behind one front door.

add_library(attune_flags INTERFACE)
# -Wrestrict of GCC 12 cries wolf on std::string's operator+ (GCC bug 105651).
target_compile_options(attune_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Werror
                                              -Wno-restrict)
target_include_directories(attune_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)

if(ATTUNE_BUILD_TESTS AND NOT ATTUNE_RUNTIME_ONLY)
  enable_testing()
  find_package(GTest REQUIRED)
endif()

# attune_embeds(SOURCE FILE...): SOURCE holds the bytes of the files (src/base/embedded_text.h). Their
# hash is a part of its command: neither ninja nor the compiler cache sees them being read.
function(attune_embeds source)
  set(hashes)
  foreach(file ${ARGN})
    file(SHA256 ${file} hash)
    string(APPEND hashes ${hash})
  endforeach()
  string(SHA256 hash "${hashes}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
  set_source_files_properties(${source} PROPERTIES COMPILE_DEFINITIONS ATTUNE_EMBEDDED=${hash})
endfunction()

# What single files of the layers need besides.
function(attune_file_properties)
  set(schedules ${CMAKE_SOURCE_DIR}/src/compiler/model/schedules)
  attune_embeds(${schedules}/bundle.cpp ${schedules}/bundle.jsonl)
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/base/version.cpp PROPERTIES
    COMPILE_DEFINITIONS "ATTUNE_VERSION=\"${PROJECT_VERSION}\"")
  # GCC 12 cries wolf where little is optimised.
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/compiler/model/layout_choice_test.cpp
    PROPERTIES COMPILE_OPTIONS -Wno-free-nonheap-object)
  attune_targets_with(kinds codegen/prelude)
  foreach(kind ${kinds})
    set(prelude ${CMAKE_SOURCE_DIR}/src/targets/${kind}/codegen/prelude)
    file(GLOB headers CONFIGURE_DEPENDS ${prelude}/*.h)
    attune_embeds(${prelude}.cpp ${headers})
  endforeach()
  if(TARGET probe_test)
    attune_test_kernels(probe_test tuner/measure/probe/test_kernels)
    attune_device_tests()
  endif()
endfunction()

# attune_targets_with(out PATH): the targets whose folders have this file or folder.
function(attune_targets_with out path)
  set(targets ${CMAKE_SOURCE_DIR}/src/targets)
  file(GLOB found RELATIVE ${targets} CONFIGURE_DEPENDS ${targets}/*/${path})
  list(TRANSFORM found REPLACE "/.*" "")
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# What tests of targets need besides: those of a device of the runtime its test kernels, all of a
# target what stands for a driver; and those that need the device itself are a test of their own.
function(attune_device_tests)
  attune_runtime_devices(kinds)
  foreach(kind ${kinds})
    if(TARGET ${kind}_device_test)
      attune_test_kernels(${kind}_device_test runtime/test_kernels)
    endif()
  endforeach()
  attune_targets_with(kinds device/test_driver)
  foreach(kind ${kinds})
    foreach(room device facts codegen tuning)
      if(TARGET ${kind}_${room}_test)
        attune_test_driver(${kind}_${room}_test targets/${kind}/device/test_driver)
      endif()
    endforeach()
  endforeach()
  attune_targets_with(kinds device/on_card_test.cpp)
  foreach(kind ${kinds})
    set(test ${kind}_device_on_card_test)
    add_test(NAME ${test} COMMAND ${kind}_device_test --gtest_filter=*OnCard.*)
    set_tests_properties(${test} PROPERTIES LABELS device TIMEOUT 300)
  endforeach()
endfunction()

function(attune_program)
  add_executable(attune ${CMAKE_SOURCE_DIR}/src/app/cli/program/main.cpp)
  target_link_libraries(attune PRIVATE attune_cli)
endfunction()
