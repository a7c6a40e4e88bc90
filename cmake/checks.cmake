# Checks of the sources themselves, run by ctest like any other test.
function(attune_add_checks)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(scripts ${CMAKE_SOURCE_DIR}/scripts)
  foreach(name check_commands_test check_design check_design_test check_docs check_docs_test
          check_functions check_functions_test check_layers check_layers_test check_sizes
          check_sizes_test doc_figures doc_figures_test launcher_test peer_environment_test)
    add_test(NAME ${name} COMMAND Python3::Interpreter -B ${scripts}/${name}.py)
    set_tests_properties(${name} PROPERTIES LABELS fast TIMEOUT 60)
  endforeach()
  foreach(test bench/setup_runs/setup_table_test bench/figure_runs/trial_counts_test
          bench/gpu_runs/rows_test bench/peer_runs/threads_table_test
          bench/build_runs/builds_table_test
          scripts/portable/archive_test scripts/portable/suites_test
          tests/conformance/c/models_test tests/extending/patches_test tests/fuzz/turns_test)
    get_filename_component(name ${test} NAME)
    add_test(NAME ${name} COMMAND Python3::Interpreter -B ${CMAKE_SOURCE_DIR}/${test}.py)
    set_tests_properties(${name} PROPERTIES LABELS fast TIMEOUT 60)
  endforeach()
  add_test(NAME patched_sources_test
           COMMAND Python3::Interpreter -B ${CMAKE_SOURCE_DIR}/tests/extending/patched_sources_test.py
                   ${CMAKE_CXX_COMPILER} -std=c++20 -DFMT_SHARED)
  set_tests_properties(patched_sources_test PROPERTIES LABELS slow TIMEOUT 300)
  add_test(NAME check_commands
           COMMAND Python3::Interpreter -B ${scripts}/check_commands.py ${CMAKE_BINARY_DIR})
  add_test(NAME target_list_test
           COMMAND ${CMAKE_COMMAND} -P ${CMAKE_SOURCE_DIR}/cmake/target_list_test.cmake)
  set_tests_properties(check_commands target_list_test PROPERTIES LABELS fast TIMEOUT 60)
  add_test(NAME check_format COMMAND ${scripts}/check_format.sh)
  set_tests_properties(check_format PROPERTIES LABELS fast TIMEOUT 60 SKIP_RETURN_CODE 77)
endfunction()
