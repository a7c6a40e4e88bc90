// Operators in text, `matmul:m=1024,n=1024,k=1024`: a family of ops/ with values for its keys. The
// result is a graph like one that was imported, small enough to be one task, whose activations may
// lie in blocks; or that task, which can be tuned, compiled and checked.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compiler/frontend/op_spec/nodes.h"
#include "compiler/graph/graph.h"
#include "compiler/ops/operator.h"
#include "compiler/target/target.h"

namespace attune::op_spec {

// What a spec says besides the graph that it stands for.
struct OpFacts {
  std::string spec = {};    // canonical: keys in the family's order, defaults left out
  std::string family = {};  // "conv2d"
  double flops = 0;
  double tolerance = 0;        // of the direct form; see ops::Operator
  std::string algorithm = {};  // the one asked for; "auto" lets all compete, direct included
};

struct OpGraph {
  OpFacts facts = {};
  graph::Graph graph = {};
  ir::Program own = {};  // the direct program of the family, which is the task's but for names
};

// The target must be resolved: the block size of activations depends on its vectors.
Result<OpGraph> parse_op_graph(std::string_view text, const target::Target& resolved,
                               const MakeConstant& make_constant);

struct OpTask : OpFacts {
  // Stable hash, in hexadecimal, of the direct program with the facts about its inputs; the same
  // whatever algorithm is asked for, and for the same node of a model.
  std::string key = {};
  ir::Program program = {};  // the direct form, the reference for all algorithms
  std::vector<ops::AlgorithmDef> alternatives = {};
};

// The task that the graph is; its constants have no contents.
Result<OpTask> parse_op_spec(std::string_view text, const target::Target& resolved);

}  // namespace attune::op_spec
