// RNN, GRU and LSTM: their attributes and operands.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/onnx/recurrent_network.h"
#include "compiler/frontend/onnx/shape_converters.h"

namespace attune::onnx {
namespace {

// activation_alpha or activation_beta: one for each activation, or for those that use it.
struct ParameterList {
  std::vector<double> values;
  std::size_t activations;
  std::size_t taken = 0;

  std::optional<double> next(std::size_t number, bool is_used) {
    if (!is_used) return {};
    const std::size_t at = values.size() == activations ? number : taken++;
    return at < values.size() ? std::optional(values[at]) : std::nullopt;
  }
};

Status set_cells(NodeContext& node, Network& net, const Cell& prototype,
                 std::vector<std::string> defaults) {
  const std::string direction = node.word("direction", "forward");
  if (direction == "bidirectional") {
    net.reversed = {false, true};
  } else if (direction == "forward" || direction == "reverse") {
    net.reversed = {direction == "reverse"};
  } else {
    return unsupported(fmt::format("direction '{}' is not known", direction));
  }
  std::vector<std::string> names = node.words("activations");
  const auto alphas = node.reals("activation_alpha"), betas = node.reals("activation_beta");
  const std::size_t each = defaults.size();
  if (names.empty()) {
    for (std::size_t i = 0; i < net.reversed.size(); ++i) {
      names.insert(names.end(), defaults.begin(), defaults.end());
    }
  }
  if (names.size() != each * net.reversed.size()) {
    return invalid(
        fmt::format("{} activations, {} are needed", names.size(), each * net.reversed.size()));
  }
  ParameterList alpha{alphas.value_or(std::vector<double>{}), names.size()};
  ParameterList beta{betas.value_or(std::vector<double>{}), names.size()};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i % each == 0) net.cells.push_back(prototype);
    ATTUNE_ASSIGN(Activation activation, activation_of(names[i]));
    if (const auto given = alpha.next(i, activation.uses_alpha())) activation.alpha = *given;
    if (const auto given = beta.next(i, activation.uses_beta())) activation.beta = *given;
    net.cells.back().activations.push_back(std::move(activation));
  }
  return {};
}

// Reads what all of them have; the state of a sequence-first layout.
Status set_operands(NodeContext& node, Network& net) {
  const auto state = [&](std::size_t input) -> Result<ValueId> {
    if (!node.has(input) || !net.batch_first) return node.input(input);
    return transpose(node, node.input(input), {1, 0, 2});
  };
  if (node.rank(node.input(0)) != 3 || node.rank(node.input(1)) != 3 ||
      node.rank(node.input(2)) != 3) {
    return invalid("its input and weights do not have three dimensions");
  }
  net.batch_first = node.flag("layout");
  net.x = node.input(0);
  if (net.batch_first) {
    ATTUNE_ASSIGN(net.x, transpose(node, net.x, {1, 0, 2}));
  }
  net.steps = node.shape(net.x)[0];
  net.batch = node.shape(net.x)[1];
  if (net.steps < 1 || net.batch < 1) return unsupported("it runs over an empty sequence");
  net.w = node.input(1);
  net.r = node.input(2);
  net.b = node.input(3);
  net.lengths = node.input(4);
  if (const ConstantPtr known = node.builder().constant_of(net.lengths)) {
    const std::vector<std::int64_t> lengths = ops::integers(*known);
    const bool all = std::all_of(lengths.begin(), lengths.end(),
                                 [&](std::int64_t length) { return length == net.steps; });
    if (all) net.lengths = kNoValue;
  }
  ATTUNE_ASSIGN(net.h, state(5));
  ATTUNE_ASSIGN(net.c, state(6));
  return {};
}

// Shapes that do not fit fail in the operators; what they would take by broadcasting fails here.
Status check_shapes(NodeContext& node, const Network& net) {
  const auto directions = static_cast<std::int64_t>(net.cells.size());
  const Cell& cell = net.cells.front();
  const std::int64_t width = cell.gates() * cell.hidden, inputs = node.shape(net.x)[2];
  const auto is = [&](ValueId value, const Extents& shape) {
    return value == kNoValue || node.shape(value) == shape;
  };
  const bool t = net.weights_transposed;
  const bool fits =
      is(net.w, t ? Extents{directions, inputs, width} : Extents{directions, width, inputs}) &&
      is(net.r,
         t ? Extents{directions, cell.hidden, width} : Extents{directions, width, cell.hidden}) &&
      is(net.b, {directions, 2 * width}) && is(net.lengths, {net.batch}) &&
      is(net.h, {directions, net.batch, cell.hidden}) &&
      is(net.c, {directions, net.batch, cell.hidden}) &&
      is(net.peepholes, {directions, 3 * cell.hidden});
  return fits ? Status() : invalid("the shapes of its operands do not fit each other");
}

Converted convert_network(NodeContext& node, Network net, Cell cell,
                          std::vector<std::string> defaults) {
  cell.hidden = net.weights_transposed ? node.shape(net.r)[1] : node.shape(net.r)[2];
  if (node.has_attribute("clip")) cell.clip = node.real("clip", 0);
  ATTUNE_RETURN_IF_ERROR(set_cells(node, net, cell, std::move(defaults)));
  ATTUNE_RETURN_IF_ERROR(check_shapes(node, net));
  return run_network(node, net);
}

}  // namespace

Converted convert_rnn(NodeContext& node) {
  Network net;
  ATTUNE_RETURN_IF_ERROR(set_operands(node, net));
  return convert_network(node, net, {.kind = CellKind::Rnn, .activations = {}, .clip = {}},
                         {"tanh"});
}

Converted convert_gru(NodeContext& node) {
  Network net;
  ATTUNE_RETURN_IF_ERROR(set_operands(node, net));
  const Cell cell{.kind = CellKind::Gru,
                  .activations = {},
                  .clip = {},
                  .linear_before_reset = node.flag("linear_before_reset")};
  return convert_network(node, net, cell, {"sigmoid", "tanh"});
}

Converted convert_lstm(NodeContext& node) {
  Network net;
  ATTUNE_RETURN_IF_ERROR(set_operands(node, net));
  net.peepholes = node.input(7);
  const Cell cell{.kind = CellKind::Lstm,
                  .activations = {},
                  .clip = {},
                  .input_forget = node.flag("input_forget")};
  return convert_network(node, net, cell, {"sigmoid", "tanh", "tanh"});
}

// Weights in 8 bits with scales; the products are made in f32, of which the rounding of inputs to 8
// bits that the operator allows is an approximation.
Converted convert_dynamic_quantize_lstm(NodeContext& node) {
  Network net;
  ATTUNE_RETURN_IF_ERROR(set_operands(node, net));
  net.peepholes = node.input(7);
  net.weights_transposed = true;
  const auto dequantized = [&](ValueId weight, std::size_t scale_input) -> Result<ValueId> {
    std::vector<ValueId> operands{weight};
    for (const std::size_t input : {scale_input, scale_input + 1}) {
      const std::int64_t count = node.type(node.input(input)).elements();
      const std::int64_t directions = node.shape(weight)[0];
      if (!node.has(input) || directions < 1 || count % directions != 0) {
        return invalid("scales and zero points of its weights do not fit");
      }
      ATTUNE_ASSIGN(const ValueId spread,
                    node.reshape(node.input(input), {directions, 1, count / directions}));
      operands.push_back(spread);
    }
    return node.add("dequantize_linear", operands, {{"to", std::string("f32")}});
  };
  ATTUNE_ASSIGN(net.w, dequantized(net.w, 8));
  ATTUNE_ASSIGN(net.r, dequantized(net.r, 10));
  const Cell cell{.kind = CellKind::Lstm,
                  .activations = {},
                  .clip = {},
                  .input_forget = node.flag("input_forget")};
  return convert_network(node, net, cell, {"sigmoid", "tanh", "tanh"});
}

}  // namespace attune::onnx
