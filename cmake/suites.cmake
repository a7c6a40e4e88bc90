# The suites that cross layers: every *_test.cpp under tests/SUITE becomes the program SUITE_NAME, linked
# with all layers and tests/support, which alone knows where the command-line program is. Each suite
# carries the label that ./test selects by.
function(attune_add_suites)
  find_package(rapidcheck REQUIRED)
  get_property(layers GLOBAL PROPERTY ATTUNE_LAYERS)
  file(GLOB_RECURSE support CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/support/*.cpp)
  list(FILTER support EXCLUDE REGEX "_test\\.cpp$")
  add_library(attune_test_support STATIC ${support})
  target_include_directories(attune_test_support PUBLIC ${CMAKE_SOURCE_DIR})
  target_compile_definitions(attune_test_support PRIVATE
    ATTUNE_GOLDEN_DIR="${CMAKE_SOURCE_DIR}/tests/golden"
    ATTUNE_PROGRAM="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/attune"
    ATTUNE_AARCH64_BUILD="${CMAKE_SOURCE_DIR}/build/aarch64"
    ATTUNE_RUN_OUTPUTS="$<TARGET_FILE:run_outputs>")
  add_dependencies(attune_test_support run_outputs)
  target_link_libraries(attune_test_support PUBLIC attune_flags ${layers} GTest::gtest)
  attune_suite(support fast)
  attune_suite(golden fast)
  attune_suite(errors fast)
  attune_suite(durability fast)
  attune_suite(conformance fast)
  attune_full_conformance()
  attune_suite(property slow)
  attune_suite(e2e slow)
  attune_suite(arm slow)
  attune_fuzz_replay()
  add_executable(onnx_import_cases
                 ${CMAKE_SOURCE_DIR}/tests/conformance/onnx/import_cases.cpp)
  target_link_libraries(onnx_import_cases PRIVATE attune_model attune_onnx)
  add_executable(onnx_mutations ${CMAKE_SOURCE_DIR}/tests/conformance/onnx/mutate_models.cpp)
  target_link_libraries(onnx_mutations PRIVATE attune_model attune_onnx)
endfunction()

# Every sample of every operator on every target, in parts that run side by side; its own suite. A
# sample of each on the CUDA device that is here, in the suite of devices.
function(attune_full_conformance)
  set(parts 4)
  foreach(part RANGE 1 ${parts})
    math(EXPR index "${part} - 1")
    add_test(NAME conformance_all_${part} COMMAND conformance_every_operator_test)
    set_tests_properties(conformance_all_${part} PROPERTIES LABELS conformance TIMEOUT 3600
      ENVIRONMENT
      "ATTUNE_MACHINE=stated;ATTUNE_CONFORMANCE=all;GTEST_TOTAL_SHARDS=${parts};GTEST_SHARD_INDEX=${index}")
    add_test(NAME conformance_on_card_${part} COMMAND conformance_every_operator_test)
    set_tests_properties(conformance_on_card_${part} PROPERTIES LABELS device TIMEOUT 3600
      ENVIRONMENT
      "ATTUNE_CONFORMANCE=card;GTEST_TOTAL_SHARDS=${parts};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()

# All tests in one program, which is small enough to travel (scripts/package --with-tests).
function(attune_all_tests)
  get_property(programs GLOBAL PROPERTY ATTUNE_TEST_PROGRAMS)
  list(TRANSFORM programs REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  add_executable(all_tests EXCLUDE_FROM_ALL ${objects})
  target_link_libraries(all_tests PRIVATE attune_test_support rapidcheck GTest::gtest
                                          GTest::gtest_main)
endfunction()

function(attune_suite suite label)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${suite}/*_test.cpp)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    set(program ${suite}_${name})
    attune_test(${program} SOURCES ${source} LINK attune_test_support LABEL ${label})
    if(TARGET attune)
      add_dependencies(${program} attune)
    endif()
    if(suite STREQUAL arm)
      set_tests_properties(${program} PROPERTIES TIMEOUT 3600)  # emulated
    endif()
    if(suite STREQUAL property)
      target_link_libraries(${program} PRIVATE rapidcheck)
    endif()
  endforeach()
endfunction()
