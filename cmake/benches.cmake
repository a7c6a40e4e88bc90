# The programs of bench/, each with the layers it uses.

# attune_bench(NAME lib...): bench/NAME/NAME.cpp becomes bench_NAME.
function(attune_bench name)
  add_executable(bench_${name} ${CMAKE_SOURCE_DIR}/bench/${name}/${name}.cpp)
  target_include_directories(bench_${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(bench_${name} PRIVATE ${ARGN})
endfunction()

# attune_bench_library(NAME SOURCES file... LINK lib...): what several of them share.
function(attune_bench_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  list(TRANSFORM arg_SOURCES PREPEND ${CMAKE_SOURCE_DIR}/bench/)
  add_library(attune_bench_${name} STATIC ${arg_SOURCES})
  target_include_directories(attune_bench_${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(attune_bench_${name} PUBLIC ${arg_LINK})
endfunction()

function(attune_add_benches)
  attune_bench(fork_join attune_runtime)
  attune_bench(artifact attune_runtime)
  attune_bench(records attune_records)
  attune_bench(codegen attune_kernel attune_kinds)
  attune_bench(dispatch attune_server attune_policies attune_runtime)
  attune_bench(book attune_server attune_policies)
  attune_bench(trials attune_session attune_builder attune_op_spec)
  attune_bench(cage attune_tunings attune_builder attune_op_spec attune_kinds)
  attune_bench(score attune_cost_model attune_templates attune_op_spec attune_kernel attune_kinds)
  attune_bench(transfer attune_session attune_kernel)
  attune_bench(features attune_cost_model attune_templates attune_op_spec attune_kernel attune_kinds)
  attune_bench(interference attune_calibration)
  attune_bench(ranking attune_tunings attune_cost_model attune_templates attune_op_spec attune_builder
               attune_kinds)
  attune_bench_library(tables SOURCES models/table.cpp
    LINK attune_cost_model attune_templates attune_op_spec attune_kernel attune_records)
  attune_bench(models attune_bench_tables attune_kinds)
  attune_bench_library(search
    SOURCES search/variant.cpp search/curve_file.cpp search/search_bench.cpp
    LINK attune_session attune_builder attune_bench_tables)
  attune_bench(search attune_bench_search)
  attune_bench(layers attune_bench_search attune_whole_model)
endfunction()
