# The build in one place: a layer is a directory of sources, a list of the layers it may use, and,
# beside the sources, *_test.cpp files that become one test program per layer.

find_package(Threads REQUIRED)
if(NOT ATTUNE_RUNTIME_ONLY)
  find_package(fmt REQUIRED)
  find_package(nlohmann_json REQUIRED)
  find_package(SQLite3 REQUIRED)
  # Debian's package description of XGBoost names a program that the package does not hold.
  find_library(ATTUNE_XGBOOST xgboost REQUIRED)
  find_package(Eigen3 REQUIRED)
endif()

add_library(attune_flags INTERFACE)
# -Wrestrict of GCC 12 cries wolf on std::string's operator+ (GCC bug 105651).
target_compile_options(attune_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Werror
                                              -Wno-restrict)
target_include_directories(attune_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)

if(ATTUNE_BUILD_TESTS AND NOT ATTUNE_RUNTIME_ONLY)
  enable_testing()
  find_package(GTest REQUIRED)
endif()

# attune_test(NAME file... LINK lib... [LABEL fast|slow]): a GoogleTest program run by ctest.
function(attune_test name)
  cmake_parse_arguments(arg "" "LABEL" "SOURCES;LINK" ${ARGN})
  if(NOT arg_LABEL)
    set(arg_LABEL fast)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE attune_flags ${arg_LINK} GTest::gtest GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS ${arg_LABEL} TIMEOUT 600)
endfunction()

# attune_layer(NAME dir [SUBDIRS folder...] LINK lib...): the static library attune_NAME from
# src/DIR/*.cpp, and the folders below it, and the test program NAME_test from *_test.cpp there.
function(attune_layer name dir)
  cmake_parse_arguments(arg "" "" "LINK;TEST_LINK;SUBDIRS" ${ARGN})
  set(patterns ${CMAKE_SOURCE_DIR}/src/${dir}/*.cpp)
  foreach(folder ${arg_SUBDIRS})
    list(APPEND patterns ${CMAKE_SOURCE_DIR}/src/${dir}/${folder}/*.cpp)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  if(NOT sources)
    return()
  endif()
  add_library(attune_${name} STATIC ${sources})
  target_link_libraries(attune_${name} PUBLIC attune_flags fmt::fmt ${arg_LINK})
  set_property(GLOBAL APPEND PROPERTY ATTUNE_LAYERS attune_${name})
  if(tests AND ATTUNE_BUILD_TESTS AND NOT ATTUNE_RUNTIME_ONLY)
    attune_test(${name}_test SOURCES ${tests} LINK attune_${name} ${arg_TEST_LINK})
  endif()
endfunction()

# LLVM and lld as libraries; only code generation links them.
function(attune_find_llvm)
  find_path(LLVM_INCLUDE_DIR llvm/IR/Module.h PATHS /usr/lib/llvm-19/include REQUIRED
            NO_DEFAULT_PATH)
  find_library(LLVM_LIBRARY LLVM-19 PATHS /usr/lib/llvm-19/lib REQUIRED)
  find_library(LLD_ELF_LIBRARY lldELF PATHS /usr/lib/llvm-19/lib REQUIRED)
  find_library(LLD_COMMON_LIBRARY lldCommon PATHS /usr/lib/llvm-19/lib REQUIRED)
  add_library(attune_llvm INTERFACE)
  target_include_directories(attune_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIR})
  target_link_libraries(attune_llvm INTERFACE ${LLD_ELF_LIBRARY} ${LLD_COMMON_LIBRARY}
                                              ${LLVM_LIBRARY} z zstd Threads::Threads)
endfunction()

# The ONNX messages, compiled by protoc into the build directory; warnings in what it writes are not
# ours. Users include "compiler/frontend/onnx/proto/onnx.pb.h".
function(attune_onnx_messages)
  find_package(Protobuf REQUIRED)
  set(generated ${CMAKE_BINARY_DIR}/generated)
  set(stem compiler/frontend/onnx/proto/onnx)
  file(MAKE_DIRECTORY ${generated})
  add_custom_command(
    OUTPUT ${generated}/${stem}.pb.cc ${generated}/${stem}.pb.h
    COMMAND protobuf::protoc --cpp_out=${generated} -I ${CMAKE_SOURCE_DIR}/src
            ${CMAKE_SOURCE_DIR}/src/${stem}.proto
    DEPENDS ${CMAKE_SOURCE_DIR}/src/${stem}.proto)
  add_library(attune_onnx_messages STATIC ${generated}/${stem}.pb.cc ${generated}/${stem}.pb.h)
  target_compile_options(attune_onnx_messages PRIVATE -w)
  target_include_directories(attune_onnx_messages SYSTEM PUBLIC ${generated})
  target_link_libraries(attune_onnx_messages PUBLIC protobuf::libprotobuf-lite)
endfunction()

# The fleet's messages and the stubs of its services, from the .proto files of src/fleet/wire. Users
# include "fleet/wire/jobs.grpc.pb.h".
function(attune_wire_messages)
  find_package(Protobuf REQUIRED)
  find_library(ATTUNE_GRPC grpc++ REQUIRED)
  # What the headers of gRPC use directly.
  find_library(ATTUNE_GRPC_CORE grpc REQUIRED)
  find_library(ATTUNE_GPR gpr REQUIRED)
  find_library(ATTUNE_ABSL_SYNCHRONIZATION absl_synchronization REQUIRED)
  find_program(ATTUNE_GRPC_PLUGIN grpc_cpp_plugin REQUIRED)
  set(generated ${CMAKE_BINARY_DIR}/generated)
  set(stem fleet/wire/jobs)
  file(MAKE_DIRECTORY ${generated})
  set(outputs ${generated}/${stem}.pb.cc ${generated}/${stem}.pb.h ${generated}/${stem}.grpc.pb.cc
              ${generated}/${stem}.grpc.pb.h)
  add_custom_command(
    OUTPUT ${outputs}
    COMMAND protobuf::protoc --cpp_out=${generated} --grpc_out=${generated}
            --plugin=protoc-gen-grpc=${ATTUNE_GRPC_PLUGIN} -I ${CMAKE_SOURCE_DIR}/src
            ${CMAKE_SOURCE_DIR}/src/${stem}.proto
    DEPENDS ${CMAKE_SOURCE_DIR}/src/${stem}.proto)
  add_library(attune_wire_messages STATIC ${outputs})
  target_compile_options(attune_wire_messages PRIVATE -w)
  target_compile_definitions(attune_wire_messages PUBLIC GRPC_USE_PROTO_LITE)
  target_include_directories(attune_wire_messages SYSTEM PUBLIC ${generated})
  target_link_libraries(attune_wire_messages PUBLIC ${ATTUNE_GRPC} ${ATTUNE_GRPC_CORE} ${ATTUNE_GPR}
                        ${ATTUNE_ABSL_SYNCHRONIZATION} protobuf::libprotobuf-lite)
endfunction()

# The program: everything behind one front door.
function(attune_program)
  find_path(CLI11_INCLUDE_DIR CLI/CLI.hpp REQUIRED)
  attune_layer(deploy app/deploy LINK attune_graph attune_templates attune_model attune_builder)
  set(bundle ${CMAKE_SOURCE_DIR}/src/app/deploy/bundle.jsonl)
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/app/deploy/bundle.cpp PROPERTIES
    COMPILE_DEFINITIONS "ATTUNE_BUNDLE=\"${bundle}\"" OBJECT_DEPENDS ${bundle})
  attune_layer(api app/api LINK attune_deploy attune_jobs attune_server attune_worker attune_onnx
               attune_zoo attune_op_spec attune_logs attune_templates attune_session attune_builder
               attune_records nlohmann_json::nlohmann_json z)
  target_compile_definitions(attune_api PRIVATE ATTUNE_VERSION="${PROJECT_VERSION}")
  attune_layer(cli app/cli LINK attune_api)
  add_executable(attune ${CMAKE_SOURCE_DIR}/src/app/cli/program/main.cpp)
  target_link_libraries(attune PRIVATE attune_cli)
endfunction()

# The layers, lowest first. scripts/check_layers.py holds the same arrows for #include lines.
function(attune_add_layers)
  attune_runtime_shared()
  if(ATTUNE_RUNTIME_ONLY)
    return()
  endif()
  attune_layer(base base)
  attune_runtime_static()
  attune_bench_runtime()
  attune_layer(probe tuner/measure/probe LINK attune_runtime)
  if(TARGET probe_test)
    attune_test_kernels(probe_test tuner/measure/probe/test_kernels)
  endif()
  attune_layer(ir compiler/ir LINK attune_base)
  attune_layer(schedule compiler/schedule LINK attune_ir)
  attune_layer(ops compiler/ops LINK attune_ir)
  attune_layer(op_spec compiler/frontend/op_spec LINK attune_ops)
  attune_onnx_messages()
  attune_layer(onnx_proto compiler/frontend/onnx/proto LINK attune_base attune_onnx_messages)
  attune_layer(zoo compiler/frontend/zoo LINK attune_onnx_proto)
  attune_layer(graph compiler/graph SUBDIRS passes LINK attune_ops)
  attune_layer(onnx compiler/frontend/onnx LINK attune_graph attune_onnx_proto)
  attune_layer(records tuner/records LINK attune_base attune_runtime SQLite::SQLite3
               nlohmann_json::nlohmann_json z)
  add_executable(bench_records ${CMAKE_SOURCE_DIR}/bench/records/records.cpp)
  target_link_libraries(bench_records PRIVATE attune_records)
  attune_layer(lower compiler/lower LINK attune_schedule)
  attune_layer(templates tuner/templates LINK attune_space TEST_LINK attune_ops)
  attune_layer(space tuner/space LINK attune_schedule)
  attune_layer(features tuner/features LINK attune_space)
  attune_layer(logs tuner/logs LINK attune_records attune_templates attune_op_spec
               nlohmann_json::nlohmann_json)
  attune_layer(model tuner/model LINK attune_features ${ATTUNE_XGBOOST} Eigen3::Eigen
               nlohmann_json::nlohmann_json
               TEST_LINK attune_templates attune_ops)
  attune_layer(explore tuner/explore LINK attune_model nlohmann_json::nlohmann_json)
  attune_find_llvm()
  attune_layer(codegen compiler/codegen SUBDIRS llvm LINK attune_ir attune_llvm
               TEST_LINK attune_runtime)
  add_executable(bench_codegen ${CMAKE_SOURCE_DIR}/bench/codegen/codegen.cpp)
  target_link_libraries(bench_codegen PRIVATE attune_codegen attune_runtime)
  attune_layer(measure tuner/measure LINK attune_probe attune_schedule attune_records)
  attune_layer(builder tuner/measure/builder LINK attune_measure attune_lower attune_codegen)
  attune_wire_messages()
  attune_layer(wire fleet/wire LINK attune_base attune_wire_messages)
  attune_layer(worker fleet/worker LINK attune_wire)
  attune_layer(jobs fleet/jobs SUBDIRS policies LINK attune_base attune_wire_messages
               nlohmann_json::nlohmann_json)
  attune_layer(server fleet/server LINK attune_jobs attune_wire attune_records TEST_LINK attune_worker)
  add_executable(bench_dispatch ${CMAKE_SOURCE_DIR}/bench/dispatch/dispatch.cpp)
  target_link_libraries(bench_dispatch PRIVATE attune_server attune_runtime)
  attune_layer(session tuner/session LINK attune_measure attune_explore attune_templates)
  add_executable(bench_trials ${CMAKE_SOURCE_DIR}/bench/trials/trials.cpp)
  target_link_libraries(bench_trials PRIVATE attune_session attune_builder attune_op_spec)
  add_executable(bench_score ${CMAKE_SOURCE_DIR}/bench/score/score.cpp)
  target_link_libraries(bench_score PRIVATE attune_model attune_templates attune_op_spec
                                            attune_codegen)
  add_executable(bench_transfer ${CMAKE_SOURCE_DIR}/bench/transfer/transfer.cpp)
  target_link_libraries(bench_transfer PRIVATE attune_session attune_codegen)
  add_executable(bench_features ${CMAKE_SOURCE_DIR}/bench/features/features.cpp)
  target_link_libraries(bench_features PRIVATE attune_model attune_templates attune_op_spec
                                               attune_codegen)
  add_library(attune_bench_tables STATIC ${CMAKE_SOURCE_DIR}/bench/models/table.cpp)
  target_include_directories(attune_bench_tables PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(attune_bench_tables PUBLIC attune_model attune_templates attune_op_spec
                                                   attune_codegen attune_records)
  add_executable(bench_models ${CMAKE_SOURCE_DIR}/bench/models/models.cpp)
  target_link_libraries(bench_models PRIVATE attune_bench_tables)
  attune_program()
  add_executable(bench_interference ${CMAKE_SOURCE_DIR}/bench/interference/interference.cpp)
  target_link_libraries(bench_interference PRIVATE attune_api)
  add_executable(bench_ranking ${CMAKE_SOURCE_DIR}/bench/ranking/ranking.cpp)
  target_link_libraries(bench_ranking PRIVATE attune_model attune_templates attune_op_spec
                                              attune_builder)
  add_library(attune_bench_search STATIC ${CMAKE_SOURCE_DIR}/bench/search/variant.cpp
                                         ${CMAKE_SOURCE_DIR}/bench/search/curve_file.cpp
                                         ${CMAKE_SOURCE_DIR}/bench/search/search_bench.cpp)
  target_include_directories(attune_bench_search PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(attune_bench_search PUBLIC attune_session attune_builder attune_bench_tables)
  add_executable(bench_search ${CMAKE_SOURCE_DIR}/bench/search/search.cpp)
  target_link_libraries(bench_search PRIVATE attune_bench_search)
endfunction()
