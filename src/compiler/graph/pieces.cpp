#include "compiler/graph/pieces.h"

#include <algorithm>

#include "compiler/graph/frame.h"

namespace attune::graph {
namespace {

constexpr std::int64_t kAlignment = 64;

// The first dimension of the physical shape that is longer than one, and which logical dimension
// that is: pieces along it follow each other in memory.
std::optional<std::size_t> outermost(const Value& value) {
  const std::vector<std::int64_t>& shape = value.type.shape;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != 1) return d;
  }
  return std::nullopt;
}

// Bytes of one step along a dimension, all outer ones being one long.
std::optional<std::int64_t> step_bytes(const Value& value, std::size_t dimension) {
  if (value.layout.is_blocked() && dimension != 1) return std::nullopt;
  std::int64_t bytes = value.type.dtype.element_bytes();
  for (std::size_t d = dimension + 1; d < value.type.shape.size(); ++d)
    bytes *= value.type.shape[d];
  return bytes;
}

bool whole_blocks(const Value& value, std::int64_t channels) {
  return !value.layout.is_blocked() || channels % value.layout.block == 0;
}

bool outer_are_one(const Value& value, std::size_t dimension) {
  return std::all_of(value.type.shape.begin(),
                     value.type.shape.begin() + static_cast<std::ptrdiff_t>(dimension),
                     [](std::int64_t extent) { return extent == 1; });
}

// The offset of a slice that is one contiguous part of its input.
std::optional<std::int64_t> slice_offset(const Graph& graph, const Node& node) {
  const Value& input = graph.value(node.inputs[0]);
  const Value& output = graph.value(node.outputs[0]);
  if (input.layout != output.layout || !input.type.is_static()) return std::nullopt;
  const ops::OpCall call = call_of(graph, node);
  const auto& starts = call.integers("starts");
  const auto& steps = call.integers("steps");
  std::optional<std::size_t> cut;
  for (std::size_t d = 0; d < starts.size(); ++d) {
    if (output.type.shape[d] > 1 && steps[d] != 1) return std::nullopt;
    if (starts[d] == 0 && output.type.shape[d] == input.type.shape[d]) continue;
    if (cut) return std::nullopt;
    cut = d;
  }
  if (!cut || !outer_are_one(input, *cut)) return std::nullopt;
  if (!whole_blocks(input, starts[*cut]) || !whole_blocks(output, output.type.shape[*cut])) {
    return std::nullopt;
  }
  const auto step = step_bytes(input, *cut);
  if (!step) return std::nullopt;
  return *step * starts[*cut];
}

class Finder {
 public:
  Finder(const Graph& graph, bool copies_outputs)
      : graph_(graph), producers_(producers(graph)), consumers_(consumers(graph)) {
    for (std::size_t v = 0; v < graph.values.size(); ++v) {
      pieces_.of_value.push_back({static_cast<ValueId>(v), 0});
      is_fixed_.push_back(graph.values[v].constant != nullptr || producers_[v] < 0);
    }
    if (!copies_outputs) {
      for (const ValueId id : graph.outputs) is_fixed_[static_cast<std::size_t>(id)] = true;
    }
    pieces_.is_free.resize(graph.nodes.size(), false);
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) place_parts(n);
    for (std::size_t n = graph.nodes.size(); n-- > 0;) place_operands(n);
    for (std::size_t v = 0; v < graph.values.size(); ++v) {
      pieces_.of_value[v] = resolve(static_cast<ValueId>(v));
    }
  }

  Pieces take() { return std::move(pieces_); }

 private:
  Piece& piece(ValueId id) { return pieces_.of_value[static_cast<std::size_t>(id)]; }
  bool is_fixed(ValueId id) const { return is_fixed_[static_cast<std::size_t>(id)]; }

  Piece resolve(ValueId id) {
    Piece result{id, 0};
    while (piece(result.whole).whole != result.whole) {
      const Piece next = piece(result.whole);
      result = {next.whole, result.offset + next.offset};
    }
    return result;
  }

  // Whether no kernel reads the value or a view of it, nor has to write it.
  bool is_only_copied(ValueId id) const {
    const auto& readers = consumers_[static_cast<std::size_t>(id)];
    return !is_fixed(id) && std::all_of(readers.begin(), readers.end(), [&](int reader) {
      const Node& node = graph_.nodes[static_cast<std::size_t>(reader)];
      return operator_of(node).kind == ops::OpKind::View && is_only_copied(node.outputs[0]);
    });
  }

  // Views and slices lie in what they read.
  void place_parts(std::size_t n) {
    const Node& node = graph_.nodes[n];
    if (operator_of(node).kind == ops::OpKind::View) {
      const bool dynamic = !graph_.value(node.outputs[0]).type.is_static();
      if (!dynamic && !is_fixed(node.outputs[0])) piece(node.outputs[0]) = {node.inputs[0], 0};
      return;
    }
    if (node.op != "slice" || is_fixed(node.outputs[0])) return;
    if (is_fixed(resolve(node.inputs[0]).whole)) return;
    const auto offset = slice_offset(graph_, node);
    if (offset && (*offset % kAlignment == 0 || is_only_copied(node.outputs[0]))) {
      piece(node.outputs[0]) = {node.inputs[0], *offset};
      pieces_.is_free[n] = true;
    }
  }

  // The last concatenation that has an operand decides where it lies; earlier ones whose operands
  // follow each other there are parts of it themselves.
  void place_operands(std::size_t n) {
    const Node& node = graph_.nodes[n];
    if (node.op != "concat" || is_fixed(node.outputs[0])) return;
    const auto offsets = operand_offsets(graph_, node);
    if (!offsets) return;
    const ValueId result = node.outputs[0];
    const Piece first = resolve(node.inputs[0]);
    bool consecutive =
        first.whole != node.inputs[0] && piece(result).whole == result && !is_fixed(first.whole);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const Piece operand = resolve(node.inputs[i]);
      consecutive &= operand.whole == first.whole && operand.offset == first.offset + (*offsets)[i];
    }
    if (consecutive && first.whole != result) {
      piece(result) = first;
      pieces_.is_free[n] = true;
      return;
    }
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const Piece operand = resolve(node.inputs[i]);
      const bool whole = operand.offset == 0 && physical_bytes(graph_.value(operand.whole)) ==
                                                    physical_bytes(graph_.value(node.inputs[i]));
      if (!whole || is_fixed(operand.whole) || operand.whole == resolve(result).whole) continue;
      piece(operand.whole) = {result, (*offsets)[i]};
      pieces_.is_free[n] = true;
    }
  }

  const Graph& graph_;
  std::vector<int> producers_;
  std::vector<std::vector<int>> consumers_;
  Pieces pieces_;
  std::vector<bool> is_fixed_;
};

}  // namespace

std::optional<std::vector<std::int64_t>> operand_offsets(const Graph& graph, const Node& node) {
  const Value& output = graph.value(node.outputs[0]);
  const auto axis = static_cast<std::size_t>(call_of(graph, node).integer("axis"));
  if (!output.type.is_static() || !outer_are_one(output, axis)) return std::nullopt;
  const auto step = step_bytes(output, axis);
  if (!step || outermost(output) != axis) return std::nullopt;
  std::vector<std::int64_t> offsets;
  std::int64_t offset = 0;
  for (const ValueId id : node.inputs) {
    const Value& operand = graph.value(id);
    const std::int64_t extent = operand.type.shape[axis];
    if (operand.layout != output.layout || !whole_blocks(operand, extent) ||
        offset % kAlignment != 0) {
      return std::nullopt;
    }
    offsets.push_back(offset);
    offset += *step * extent;
  }
  return offsets;
}

Pieces find_pieces(const Graph& graph, bool copies_outputs) {
  return Finder(graph, copies_outputs).take();
}

}  // namespace attune::graph
