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

# What single files of the layers need besides.
function(attune_file_properties)
  set(bundle ${CMAKE_SOURCE_DIR}/src/compiler/model/schedules/bundle.jsonl)
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/compiler/model/schedules/bundle.cpp PROPERTIES
    COMPILE_DEFINITIONS "ATTUNE_BUNDLE=\"${bundle}\"" OBJECT_DEPENDS ${bundle})
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/base/version.cpp PROPERTIES
    COMPILE_DEFINITIONS "ATTUNE_VERSION=\"${PROJECT_VERSION}\"")
  # GCC 12 cries wolf where little is optimised.
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/compiler/model/layout_choice_test.cpp
    PROPERTIES COMPILE_OPTIONS -Wno-free-nonheap-object)
  foreach(kind c cuda)
    set(prelude ${CMAKE_SOURCE_DIR}/src/targets/${kind}/codegen/prelude)
    file(GLOB prelude_headers CONFIGURE_DEPENDS ${prelude}/*.h)
    set_source_files_properties(${CMAKE_SOURCE_DIR}/src/targets/${kind}/codegen/prelude.cpp
      PROPERTIES COMPILE_DEFINITIONS "ATTUNE_PRELUDE=\"${prelude}\""
      OBJECT_DEPENDS "${prelude_headers}")
  endforeach()
  if(TARGET cpu_device_test)
    attune_test_kernels(cpu_device_test runtime/test_kernels)
  endif()
  foreach(test cuda_device_test cuda_facts_test)
    if(TARGET ${test})
      attune_test_driver(${test} targets/cuda/device/test_driver)
    endif()
  endforeach()
  if(TARGET cuda_device_test)
    add_test(NAME cuda_device_on_card_test COMMAND cuda_device_test --gtest_filter=CudaOnCard.*)
    set_tests_properties(cuda_device_on_card_test PROPERTIES LABELS device TIMEOUT 300)
  endif()
  if(TARGET probe_test)
    attune_test_kernels(probe_test tuner/measure/probe/test_kernels)
  endif()
endfunction()

function(attune_program)
  add_executable(attune ${CMAKE_SOURCE_DIR}/src/app/cli/program/main.cpp)
  target_link_libraries(attune PRIVATE attune_cli)
endfunction()
