// What a person wants to know of a tensor, and tensors as files.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/memory/tensor.h"

namespace attune::tensor_files {

struct TopElement {
  std::vector<std::int64_t> index = {};
  double value = 0;
};

struct TensorSummary {
  std::string name = {};
  std::string type = {};
  std::vector<std::int64_t> shape = {};
  bool random = false;  // an input that was not given
  double least = 0, most = 0, mean = 0;
  std::vector<TopElement> top = {};
  std::string path = {};  // of the file it was read from or written to
};

// With the `top` largest elements.
TensorSummary summarize(const std::string& name, const runtime::Tensor& tensor, int top);
nlohmann::ordered_json json_of(const TensorSummary& tensor);

// For tensors that a run writes: the directory, and in it one file each, whose name is the tensor's
// with every character replaced by _ that is no letter, digit, _, . or -.
Status make_directory(const std::string& path);
std::string npy_path(const std::string& directory, const std::string& name);

}  // namespace attune::tensor_files
