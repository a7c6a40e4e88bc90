// Imports cases of ONNX's backend tests with all their inputs bound as constants, so that the
// interpreter computes the outputs, and compares these with the expected ones: a quick check of
// what operators mean, without compiling anything.
//
// usage: onnx_import_cases [-v] CASE-FOLDER...
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>

#include "compiler/frontend/onnx/import.h"
#include "compiler/model/ahead.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  std::string status;  // pass, wrong, unsupported, error, open
  std::string message;
};

std::optional<Outcome> compare(const ops::Constant& actual, const ops::Constant& expected) {
  if (!(actual.type == expected.type)) {
    return Outcome{"wrong", fmt::format("is {}, must be {}", ops::to_string(actual.type),
                                        ops::to_string(expected.type))};
  }
  for (std::int64_t i = 0; i < expected.type.elements(); ++i) {
    const double a = actual.real(i), e = expected.real(i);
    const bool equal =
        a == e || (std::isnan(a) && std::isnan(e)) || std::abs(a - e) <= 1e-7 + 1e-3 * std::abs(e);
    if (!equal) return Outcome{"wrong", fmt::format("element {} is {}, must be {}", i, a, e)};
  }
  return std::nullopt;
}

Outcome failed(const Error& error) {
  return {error.code == ErrorCode::Unsupported ? "unsupported" : "error", error.message};
}

Outcome run_case(const fs::path& folder) {
  const auto file = onnx_proto::read_model((folder / "model.onnx").string());
  if (!file.ok()) return failed(file.error());
  onnx::ImportOptions options;
  options.folding.largest_result = std::int64_t{1} << 40;
  options.folding.most_steps = std::int64_t{1} << 40;
  options.folding.run_host = model::run_host_on_constants;
  const fs::path data = folder / "test_data_set_0";
  const std::vector<std::string> names = onnx::input_names(*file);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const fs::path path = data / fmt::format("input_{}.pb", i);
    if (!fs::exists(path)) continue;
    const auto tensor = onnx_proto::read_tensor(path.string());
    if (!tensor.ok()) return failed(tensor.error());
    auto constant = onnx::constant_of(*tensor);
    if (!constant.ok()) return failed(constant.error());
    options.constants[names[i]] = *constant;
  }
  const auto graph = onnx::import_model(*file, options);
  if (!graph.ok()) return failed(graph.error());
  for (std::size_t i = 0; i < graph->outputs.size(); ++i) {
    const ops::ConstantPtr actual = graph->value(graph->outputs[i]).constant;
    if (actual == nullptr) return {"open", graph->nodes.empty() ? "" : graph->nodes.front().op};
    const auto tensor = onnx_proto::read_tensor((data / fmt::format("output_{}.pb", i)).string());
    if (!tensor.ok()) return failed(tensor.error());
    const auto expected = onnx::constant_of(*tensor);
    if (!expected.ok()) return failed(expected.error());
    if (auto difference = compare(*actual, **expected)) {
      difference->message = fmt::format("output {}: {}", i, difference->message);
      return *difference;
    }
  }
  return {"pass", ""};
}

int run(int count, char** arguments) {
  bool verbose = false;
  std::map<std::string, int> totals;
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(arguments[i], "-v") == 0) {
      verbose = true;
      continue;
    }
    const fs::path folder(arguments[i]);
    const Outcome outcome = run_case(folder);
    ++totals[outcome.status];
    if (verbose || outcome.status != "pass") {
      fmt::print("{:11} {} {}\n", outcome.status, folder.filename().string(), outcome.message);
      std::fflush(stdout);
    }
  }
  for (const auto& [status, number] : totals) fmt::print("{} {}\n", status, number);
  return totals.count("wrong") != 0 ? 1 : 0;
}

}  // namespace
}  // namespace attune

int main(int count, char** arguments) { return attune::run(count, arguments); }
