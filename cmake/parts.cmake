# The third-party parts, each as a target attune_part_NAME that src/layers.txt names as +NAME.

find_package(Threads REQUIRED)
if(ATTUNE_RUNTIME_ONLY)
  return()
endif()
find_package(fmt REQUIRED)

# attune_part(NAME LIBRARY...)
function(attune_part name)
  add_library(attune_part_${name} INTERFACE)
  target_link_libraries(attune_part_${name} INTERFACE ${ARGN})
endfunction()

find_package(nlohmann_json REQUIRED)
attune_part(json nlohmann_json::nlohmann_json)
find_package(SQLite3 REQUIRED)
attune_part(sqlite SQLite::SQLite3)
attune_part(zlib z)
# Debian's package description of XGBoost names a program that the package does not hold.
find_library(ATTUNE_XGBOOST xgboost REQUIRED)
attune_part(xgboost ${ATTUNE_XGBOOST})
find_package(Eigen3 REQUIRED)
attune_part(eigen Eigen3::Eigen)
find_path(CLI11_INCLUDE_DIR CLI/CLI.hpp REQUIRED)
attune_part(cli11)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
attune_part(crypto OpenSSL::Crypto)

# LLVM and lld as libraries.
function(attune_part_llvm)
  find_path(LLVM_INCLUDE_DIR llvm/IR/Module.h PATHS /usr/lib/llvm-19/include REQUIRED
            NO_DEFAULT_PATH)
  find_library(LLVM_LIBRARY LLVM-19 PATHS /usr/lib/llvm-19/lib REQUIRED)
  find_library(LLD_ELF_LIBRARY lldELF PATHS /usr/lib/llvm-19/lib REQUIRED)
  find_library(LLD_COMMON_LIBRARY lldCommon PATHS /usr/lib/llvm-19/lib REQUIRED)
  attune_part(llvm ${LLD_ELF_LIBRARY} ${LLD_COMMON_LIBRARY} ${LLVM_LIBRARY} z zstd Threads::Threads)
  target_include_directories(attune_part_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIR})
endfunction()
attune_part_llvm()

# attune_messages(NAME STEM OUTPUTS suffix... ARGUMENTS protoc argument... LINK lib...): what protoc
# makes of src/STEM.proto, in the build directory; warnings in it are not ours. Users include
# "STEM.pb.h".
find_package(Protobuf REQUIRED)
function(attune_messages name stem)
  cmake_parse_arguments(arg "" "" "OUTPUTS;ARGUMENTS;LINK" ${ARGN})
  set(generated ${CMAKE_BINARY_DIR}/generated)
  file(MAKE_DIRECTORY ${generated})
  list(TRANSFORM arg_OUTPUTS PREPEND ${generated}/${stem})
  add_custom_command(
    OUTPUT ${arg_OUTPUTS}
    COMMAND protobuf::protoc --cpp_out=${generated} ${arg_ARGUMENTS} -I ${CMAKE_SOURCE_DIR}/src
            ${CMAKE_SOURCE_DIR}/src/${stem}.proto
    DEPENDS ${CMAKE_SOURCE_DIR}/src/${stem}.proto)
  add_library(attune_part_${name} STATIC ${arg_OUTPUTS})
  target_compile_options(attune_part_${name} PRIVATE -w)
  target_include_directories(attune_part_${name} SYSTEM PUBLIC ${generated})
  target_link_libraries(attune_part_${name} PUBLIC ${arg_LINK} protobuf::libprotobuf-lite)
endfunction()

# The ONNX messages.
attune_messages(onnx_messages compiler/frontend/onnx/proto/onnx OUTPUTS .pb.cc .pb.h)

# The fleet's messages and the stubs of its services, with what the headers of gRPC use directly.
find_library(ATTUNE_GRPC grpc++ REQUIRED)
find_library(ATTUNE_GRPC_CORE grpc REQUIRED)
find_library(ATTUNE_GPR gpr REQUIRED)
find_library(ATTUNE_ABSL_SYNCHRONIZATION absl_synchronization REQUIRED)
find_program(ATTUNE_GRPC_PLUGIN grpc_cpp_plugin REQUIRED)
attune_messages(wire_messages fleet/wire/jobs OUTPUTS .pb.cc .pb.h .grpc.pb.cc .grpc.pb.h
  ARGUMENTS --grpc_out=${CMAKE_BINARY_DIR}/generated
            --plugin=protoc-gen-grpc=${ATTUNE_GRPC_PLUGIN}
  LINK ${ATTUNE_GRPC} ${ATTUNE_GRPC_CORE} ${ATTUNE_GPR} ${ATTUNE_ABSL_SYNCHRONIZATION})
target_compile_definitions(attune_part_wire_messages PUBLIC GRPC_USE_PROTO_LITE)
