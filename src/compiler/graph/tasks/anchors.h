// Heavy operators in the form that has fast schedules: matrix products as `matmul`, `dense` or
// `batch_matmul` over merged dimensions, convolutions and pools on blocked activations. A node that
// has no such form is built from its plain tensor expression.
#pragma once

#include <optional>

#include "compiler/graph/frame.h"
#include "compiler/ops/operator.h"

namespace attune::graph {

struct Anchor {
  ops::Operator op;  // direct program and alternatives; each ends in the stage `output`
  // The values behind the program's inputs, in order.
  std::vector<ValueId> inputs;
  Frame frame;              // of the output, with the axes of the stage `output`
  ValueId bias = kNoValue;  // to be added per channel
};

// What a node wants of its data input, when it runs on blocked activations.
enum class WantedLayout { Any, Plain, Blocked };
struct BlockedForm {
  WantedLayout input;
};
// Whether the node has a form on blocked activations, with blocks of this size.
std::optional<BlockedForm> blocked_form(const Graph& graph, const Node& node, std::int64_t block);

// Convolutions to blocked activations with weights known ahead: of one tap, without stride, border
// and groups; of an image of few channels that is not blocked; and with one filter for each
// channel.
bool is_pointwise_convolution(const Graph& graph, const Node& node);
bool is_first_convolution(const Graph& graph, const Node& node);
bool is_depthwise_convolution(const Graph& graph, const Node& node);

// The layouts of the values must be assigned.
Result<std::optional<Anchor>> make_anchor(const Graph& graph, const Node& node);

}  // namespace attune::graph
