// Operators in text, `matmul:m=1024,n=1024,k=1024`: a family of ops/ with values for its keys. The
// result is a task that can be tuned, compiled and checked like one taken from a model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compiler/ops/operator.h"
#include "compiler/target/target.h"

namespace attune::op_spec {

struct OpTask {
  std::string spec;    // canonical: keys in the family's order, defaults left out
  std::string family;  // "conv2d"
  // Stable hash, in hexadecimal, of the direct program with the facts about its inputs; the same
  // whatever algorithm is asked for.
  std::string key;
  ir::Program program;  // the direct form, the reference for all algorithms
  double flops = 0;
  double tolerance = 0;  // of the direct form; see ops::Operator
  std::vector<ops::BlockedTensor> blocked;
  std::vector<ops::AlgorithmDef> alternatives;
  std::string algorithm;  // the one asked for; "auto" lets all compete, direct included
};

// The target must be resolved: the block size of activations depends on its vectors.
Result<OpTask> parse_op_spec(std::string_view text, const target::Target& resolved);

}  // namespace attune::op_spec
