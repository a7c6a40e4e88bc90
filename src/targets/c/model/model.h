// A whole model as C11 sources that need nothing but a compiler: from its plan, the lowered kernels
// and the final weights to a folder of files. NAME.h has one function NAME_run, NAME.c runs the
// plan, NAME_kernels_N.c hold the kernels, NAME_weights_N.c (or the file NAME.weights) the weights,
// NAME_example.c a program that runs it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/ir/nodes/stmt.h"
#include "runtime/format/artifact.h"
#include "runtime/format/plan.h"

namespace attune::c {

enum class WeightsForm { Array, File };

struct ModelSource {
  const runtime::Plan& plan;
  // One per kernel of the plan, with the plan's symbols as names.
  const std::vector<ir::Kernel>& kernels;
  const std::vector<runtime::WeightPiece>& weights;
  std::int64_t weight_bytes = 0;
};

struct SourceFile {
  std::string name;
  std::string bytes;
};

// As arrays weights have at most this many bytes: compilers need some hundred bytes of memory for
// each eight of an array.
inline constexpr std::int64_t kLargestArrays = std::int64_t{32} << 20;

// Fails for what C does not have: host operators, tensors whose size depends on data, and weights
// that are too large for arrays.
Result<std::vector<SourceFile>> print_model(const ModelSource& source, WeightsForm form);

// Whether the directory is new or empty.
Status check_directory(const std::string& directory);
// The files in a new directory, or an empty one: all of them, or the directory stays as it was.
Status write_directory(const std::string& directory, const std::vector<SourceFile>& files);

}  // namespace attune::c
