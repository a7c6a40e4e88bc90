// ONNX models of few nodes, and tensors in files, for tests of whole commands.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace attune::test {

struct TinyInput {
  std::string name;
  std::vector<std::string> dims;  // numbers or symbols
  bool integers = false;          // i64 instead of f32
  bool weight = false;            // an f32 constant of the model
};

struct TinyNode {
  std::string op;
  std::vector<std::string> inputs;
  std::string output;
  std::map<std::string, std::vector<std::int64_t>> lists = {};  // attributes
  std::map<std::string, std::int64_t> numbers = {};
  std::map<std::string, std::string> words = {};
};

// The output of the last node is that of the model.
std::string write_tiny_model(const std::string& path, const std::vector<TinyNode>& nodes,
                             const std::vector<TinyInput>& inputs);

// output = op(inputs), of the newest operator set that all know. Returns the path.
std::string write_tiny_model(const std::string& path, const std::string& op,
                             const std::vector<TinyInput>& inputs, const std::string& output = "y");

// y = n != 0 ? x · x · x : relu(x), with x: f32[256, 256] and n: i64[1].
std::string write_branching_model(const std::string& path);

// A TensorProto of f32 or i64 elements in a file.
void write_tensor(const std::string& path, const std::vector<std::int64_t>& dims,
                  const std::vector<float>& values);
void write_tensor(const std::string& path, const std::vector<std::int64_t>& dims,
                  const std::vector<std::int64_t>& values);

}  // namespace attune::test
