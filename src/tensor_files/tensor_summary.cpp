#include "tensor_files/tensor_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

namespace attune::tensor_files {
namespace {

using runtime::Tensor;

std::vector<std::int64_t> index_of(std::int64_t position, std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; position /= shape[d]) index[d] = position % shape[d];
  return index;
}

std::vector<TopElement> largest(const Tensor& tensor, int count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(tensor.elements()));
  std::iota(order.begin(), order.end(), 0);
  const auto value = [&](std::int64_t i) {
    return runtime::read_element(tensor.data(), tensor.type(), i);
  };
  // By size; what is no number comes last.
  const auto before = [&](std::int64_t a, std::int64_t b) {
    const double left = value(a), right = value(b);
    if (std::isnan(left) || std::isnan(right)) {
      return std::isnan(left) == std::isnan(right) ? a < b : std::isnan(right);
    }
    return left != right ? left > right : a < b;
  };
  const auto kept = std::min<std::size_t>(order.size(), static_cast<std::size_t>(count));
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                    before);
  std::vector<TopElement> top;
  for (std::size_t i = 0; i < kept; ++i) {
    top.push_back({index_of(order[i], tensor.shape()), value(order[i])});
  }
  return top;
}

}  // namespace

TensorSummary summarize(const std::string& name, const Tensor& tensor, int top) {
  TensorSummary summary{.name = name,
                        .type = std::string(runtime::name_of(tensor.type())),
                        .shape = {tensor.shape().begin(), tensor.shape().end()}};
  double sum = 0;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    const double value = runtime::read_element(tensor.data(), tensor.type(), i);
    summary.least = i == 0 ? value : std::min(summary.least, value);
    summary.most = i == 0 ? value : std::max(summary.most, value);
    sum += value;
  }
  if (tensor.elements() > 0) summary.mean = sum / static_cast<double>(tensor.elements());
  if (top > 0) summary.top = largest(tensor, top);
  return summary;
}

Status make_directory(const std::string& path) {
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return {};
  std::string reason =
      std::filesystem::exists(path, ignored) ? "a file has this name" : failure.message();
  reason[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(reason[0])));
  return Error{ErrorCode::Io, fmt::format("cannot create directory '{}': {}", path, reason),
               "name another directory with --output"};
}

std::string npy_path(const std::string& directory, const std::string& name) {
  std::string file = name;
  for (char& c : file) {
    const bool kept =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
    if (!kept) c = '_';
  }
  return (std::filesystem::path(directory) / (file + ".npy")).string();
}

nlohmann::ordered_json json_of(const TensorSummary& tensor) {
  nlohmann::ordered_json json{{"name", tensor.name}, {"type", tensor.type}, {"shape", tensor.shape},
                              {"min", tensor.least}, {"max", tensor.most},  {"mean", tensor.mean}};
  if (!tensor.path.empty()) json["path"] = tensor.path;
  for (const TopElement& element : tensor.top) {
    json["top"].push_back({{"index", element.index}, {"value", element.value}});
  }
  return json;
}

}  // namespace attune::tensor_files
