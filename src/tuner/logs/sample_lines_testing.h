// Log lines for the tests of this library, written by hand after the format.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/rng.h"

namespace attune::logs {

inline std::string line_of(const std::string& target, const std::string& task,
                           const std::string& arguments, const std::string& entities,
                           const std::string& result = "[[0.0002], 0, 1.5, 1600000000.5]") {
  return fmt::format(
      R"({{"input": ["{}", "{}", {}, {{}}], "config": {{"index": 17, "code_hash": null, )"
      R"("entity": {}}}, "result": {}, "version": 0.2, "tvm_version": "0.8.0"}})",
      target, task, arguments, entities, result);
}

inline std::string conv2d_line() {
  return line_of(
      "llvm -mcpu=skylake-avx512", "conv2d_NCHWc.x86",
      R"([["TENSOR", [1, 64, 56, 56], "float32"], ["TENSOR", [64, 64, 3, 3], "float32"],)"
      R"( [1, 1], [1, 1, 1, 1], [1, 1], "NCHW", "NCHW", "float32"])",
      R"([["tile_ic", "sp", [4, 16]], ["tile_oc", "sp", [2, 32]],)"
      R"( ["tile_ow", "sp", [4, 14]], ["unroll_kw", "ot", true]])");
}

inline std::string dense_line(const std::string& result = "[[0.0002], 0, 1.5, 1600000000.5]") {
  return line_of("llvm -mcpu=core-avx2", "dense_pack.x86",
                 R"([["TENSOR", [128, 256], "float32"], ["TENSOR", [512, 256], "float32"],)"
                 R"( null, "float32"])",
                 R"([["tile_y", "sp", [8, 4, 4]], ["tile_x", "sp", [8, 2, 32]],)"
                 R"( ["tile_k", "sp", [128, 2]]])",
                 result);
}

inline std::string depthwise_line() {
  return line_of("cuda -model=v100", "depthwise_conv2d_nchw.cuda",
                 R"([["TENSOR", [1, 32, 28, 28], "float32"], ["TENSOR", [32, 1, 3, 3], "float32"],)"
                 R"( 1, "SAME", 1, "float32"])",
                 R"([["tile_f", "sp", [-1, 2, 4, 1]], ["auto_unroll_max_step", "ot", 256]])");
}

inline std::string batch_matmul_line() {
  return line_of(
      "llvm", "batch_matmul.x86",
      R"([["TENSOR", [4, 32, 64], "float32"], ["TENSOR", [4, 48, 64], "float32"],)"
      R"( [4, 32, 48]])",
      R"([["tile_y", "sp", [8, 4]], ["tile_x", "sp", [3, 16]], ["tile_k", "sp", [64, 1]]])");
}

inline std::vector<std::string> sample_lines() {
  return {conv2d_line(), dense_line(), depthwise_line(), batch_matmul_line()};
}

inline std::string old_version_line() {
  return R"({"i": ["llvm", "topi_x86_conv2d_NCHWc", [], {}, ["conv2d"], {"i": 1, "t": "direct", )"
         R"("c": null, "e": []}], "r": [[0.001], 0, 1.0, 1550000000.0], "v": 0.1})";
}

inline std::string auto_scheduler_line() {
  return R"({"i": [["[\"matmul\", 8, 8, 8]", "llvm"], [[], [["SP", 2, 0, 8, [2], 1]]]], )"
         R"("r": [[0.0001], 0, 0.9, 1600000000], "v": "v0.6"})";
}

// A few bytes changed, removed, doubled or moved.
inline std::string mutated(std::string line, Rng& rng) {
  constexpr std::string_view kBytes = "[]{}\",:0129-.eE nul\\x\x01\xff";
  for (std::uint64_t left = 1 + rng.below(4); left > 0 && !line.empty(); --left) {
    const std::size_t at = rng.below(line.size());
    const std::size_t length = 1 + rng.below(12);
    switch (rng.below(5)) {
      case 0:
        line[at] = kBytes[rng.below(kBytes.size())];
        break;
      case 1:
        line.erase(at, length);
        break;
      case 2:
        line.insert(rng.below(line.size()), line.substr(at, length));
        break;
      case 3:
        line.insert(at, 1, kBytes[rng.below(kBytes.size())]);
        break;
      default:
        line.resize(at);
    }
  }
  return line;
}

}  // namespace attune::logs
