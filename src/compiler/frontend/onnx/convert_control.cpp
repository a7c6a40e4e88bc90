// If and Scan; Loop has a file of its own.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/onnx/shape_converters.h"

namespace attune::onnx {
namespace {

using GraphPtr = std::shared_ptr<const graph::Graph>;

// The body with inputs for all of `captures` behind its first `handed` ones, in this order.
GraphPtr with_captures(const Body& body, std::size_t handed, const std::vector<ValueId>& captures,
                       NodeContext& node) {
  graph::Graph graph = *body.graph;
  std::vector<ValueId> inputs(graph.inputs.begin(),
                              graph.inputs.begin() + static_cast<std::ptrdiff_t>(handed));
  for (const ValueId capture : captures) {
    const auto found = std::find(body.captures.begin(), body.captures.end(), capture);
    if (found != body.captures.end()) {
      inputs.push_back(
          graph.inputs[handed + static_cast<std::size_t>(found - body.captures.begin())]);
      continue;
    }
    inputs.push_back(static_cast<ValueId>(graph.values.size()));
    graph.values.push_back({fmt::format("unused.{}", capture), node.type(capture)});
  }
  graph.inputs = std::move(inputs);
  return std::make_shared<const graph::Graph>(std::move(graph));
}

}  // namespace

std::optional<std::int64_t> known_number(NodeContext& node, ValueId value) {
  const ConstantPtr constant = node.builder().constant_of(value);
  if (constant == nullptr || constant->type.elements() != 1) return std::nullopt;
  return constant->integer(0);
}

namespace {

// Numbers that are a scalar in one branch and [1] in the other get the shape that `like` has.
GraphPtr with_shapes_of(const GraphPtr& branch, const graph::Graph& like) {
  graph::Graph graph = *branch;
  for (std::size_t i = 0; i < std::min(graph.outputs.size(), like.outputs.size()); ++i) {
    const TensorType own = graph.value(graph.outputs[i]).type;
    const TensorType& wanted = like.value(like.outputs[i]).type;
    if (own == wanted || own.dtype != wanted.dtype || !own.is_static() || !wanted.is_static() ||
        own.elements() != 1 || wanted.elements() != 1) {
      continue;
    }
    const auto value = static_cast<ValueId>(graph.values.size());
    graph.values.push_back({fmt::format("result.{}", i), wanted});
    graph.nodes.push_back(
        {"reshape", "", {graph.outputs[i]}, {value}, {{"shape", wanted.shape}}, {}});
    graph.outputs[i] = value;
  }
  return std::make_shared<const graph::Graph>(std::move(graph));
}

// The one branch that can be computed; at run time the other one is an error.
Converted take_only(NodeContext& node, ValueId condition, bool is_then, const Error& why) {
  ATTUNE_ASSIGN(std::vector<ValueId> values,
                node.inline_body(is_then ? "then_branch" : "else_branch", {}));
  const std::string message =
      fmt::format("{} takes its other branch, which does not fit the shapes of this model: {}",
                  node.label(), why.message);
  for (ValueId& value : values) {
    ATTUNE_ASSIGN(value, node.add("require", {condition, value},
                                  {{"expected", std::int64_t{is_then}}, {"message", message}}));
  }
  return values;
}

}  // namespace

Converted convert_if(NodeContext& node) {
  if (const auto condition = known_number(node, node.input(0))) {
    return node.inline_body(*condition != 0 ? "then_branch" : "else_branch", {});
  }
  ATTUNE_ASSIGN(const ValueId condition, node.reshape(node.input(0), {}));
  auto yes = node.body("then_branch", {});
  auto no = node.body("else_branch", {});
  const auto misfits = [](const Result<Body>& body) {
    return !body.ok() && body.error().code == ErrorCode::InvalidArgument;
  };
  if (yes.ok() && misfits(no)) return take_only(node, condition, true, no.error());
  if (no.ok() && misfits(yes)) return take_only(node, condition, false, yes.error());
  if (!yes.ok()) return yes.error();
  if (!no.ok()) return no.error();
  std::vector<ValueId> captures = yes->captures;
  for (const ValueId capture : no->captures) {
    if (std::find(captures.begin(), captures.end(), capture) == captures.end()) {
      captures.push_back(capture);
    }
  }
  std::vector<ValueId> inputs{condition};
  inputs.insert(inputs.end(), captures.begin(), captures.end());
  const GraphPtr then_graph = with_captures(*yes, 0, captures, node);
  const GraphPtr else_graph = with_shapes_of(with_captures(*no, 0, captures, node), *then_graph);
  return node.builder().add_node("if", inputs, {}, {then_graph, else_graph});
}

namespace {

struct ScanCall {
  std::vector<ValueId> states, inputs;  // sliced along axis 0
  Extents reverse_inputs, reverse_outputs, output_axes;
};

Result<Extents> scan_list(NodeContext& node, std::string_view key, std::size_t count) {
  const auto given = node.integers(key);
  if (!given) return Extents(count, 0);
  if (given->size() != count) {
    return invalid(fmt::format("{} has {} numbers, must have {}", key, given->size(), count));
  }
  return *given;
}

// A permutation that takes `axis` to the front, or the front to `axis`.
Extents moving(std::int64_t axis, int rank, bool to_front) {
  Extents perm;
  for (int i = 0; i < rank; ++i) perm.push_back(i);
  if (to_front) {
    perm.erase(perm.begin() + axis);
    perm.insert(perm.begin(), axis);
  } else {
    perm.erase(perm.begin());
    perm.insert(perm.begin() + axis, 0);
  }
  return perm;
}

Converted add_scan(NodeContext& node, const ScanCall& scan) {
  std::vector<TensorType> handed;
  for (const ValueId value : scan.states) handed.push_back(node.type(value));
  std::int64_t trips = -1;
  for (const ValueId value : scan.inputs) {
    TensorType slice = node.type(value);
    if (slice.shape.empty() || (trips != -1 && slice.shape[0] != trips)) {
      return invalid("its inputs are not equally long");
    }
    trips = slice.shape[0];
    slice.shape.erase(slice.shape.begin());
    if (!slice.is_static()) return unsupported("it scans a tensor whose size depends on data");
    handed.push_back(slice);
  }
  ATTUNE_ASSIGN(const Body body, node.body("body", handed));
  graph::Graph graph = *body.graph;
  // The body of a loop is told its iteration.
  const auto iteration = static_cast<ValueId>(graph.values.size());
  graph.values.push_back({"iteration.of.scan", {ir::kI64, {}, {}}});
  graph.inputs.insert(graph.inputs.begin(), iteration);
  std::vector<ValueId> inputs{kNoValue, kNoValue};
  inputs.insert(inputs.end(), scan.states.begin(), scan.states.end());
  inputs.insert(inputs.end(), scan.inputs.begin(), scan.inputs.end());
  inputs.insert(inputs.end(), body.captures.begin(), body.captures.end());
  return node.builder().add_node(
      "loop", inputs,
      {{"carried", static_cast<std::int64_t>(scan.states.size())},
       {"scanned", static_cast<std::int64_t>(scan.inputs.size())},
       {"outputs_scanned", static_cast<std::int64_t>(scan.reverse_outputs.size())},
       {"has_trip_count", std::int64_t{0}},
       {"has_condition", std::int64_t{0}},
       {"max_trips", trips},
       {"extent", std::int64_t{ops::kConstantExtent}},
       {"reverse_inputs", scan.reverse_inputs},
       {"reverse_outputs", scan.reverse_outputs}},
      {std::make_shared<const graph::Graph>(std::move(graph))});
}

// Version 8 scans each element of a batch by itself.
Converted scan_batches(NodeContext& node, const ScanCall& scan) {
  const std::int64_t batches =
      node.rank(scan.inputs.front()) == 0 ? 0 : node.shape(scan.inputs.front())[0];
  for (const auto* values : {&scan.states, &scan.inputs}) {
    for (const ValueId value : *values) {
      const Extents& shape = node.shape(value);
      if (shape.empty() || shape[0] != batches || batches < 1) {
        return invalid(fmt::format("{} does not have one element for each batch",
                                   ops::to_string(node.type(value))));
      }
    }
  }
  const auto element = [&](ValueId value, std::int64_t number) -> Result<ValueId> {
    ATTUNE_ASSIGN(const ValueId part, slice_axis(node, value, 0, number, 1));
    const Extents& shape = node.shape(part);
    return node.reshape(part, Extents(shape.begin() + 1, shape.end()));
  };
  std::vector<std::vector<ValueId>> rows;
  for (std::int64_t b = 0; b < batches; ++b) {
    ScanCall one_scan = scan;
    for (auto* values : {&one_scan.states, &one_scan.inputs}) {
      for (ValueId& value : *values) {
        ATTUNE_ASSIGN(value, element(value, b));
      }
    }
    ATTUNE_ASSIGN(const std::vector<ValueId> results, add_scan(node, one_scan));
    rows.resize(results.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      Extents shape = node.shape(results[i]);
      shape.insert(shape.begin(), 1);
      ATTUNE_ASSIGN(const ValueId row, node.reshape(results[i], shape));
      rows[i].push_back(row);
    }
  }
  std::vector<ValueId> outputs;
  for (const std::vector<ValueId>& parts : rows) {
    ATTUNE_ASSIGN(const ValueId all, parts.size() == 1
                                         ? Result<ValueId>(parts.front())
                                         : node.add("concat", parts, {{"axis", std::int64_t{0}}}));
    outputs.push_back(all);
  }
  return outputs;
}

}  // namespace

Converted convert_scan(NodeContext& node) {
  const bool batched = node.opset() < 9;
  const std::size_t first = batched ? 1 : 0;  // version 8 has the lengths of sequences in front
  if (batched && node.has(0)) return unsupported("sequence_lens of version 8");
  const auto scanned = static_cast<std::size_t>(node.integer("num_scan_inputs", 0));
  if (scanned < 1 || scanned + first > node.input_count()) {
    return invalid(fmt::format("it scans {} inputs", scanned));
  }
  const std::size_t states = node.input_count() - scanned - first;
  ScanCall scan;
  for (std::size_t i = 0; i < states; ++i) scan.states.push_back(node.input(first + i));
  for (std::size_t i = 0; i < scanned; ++i) scan.inputs.push_back(node.input(first + states + i));
  const std::size_t results = node.body_output_count("body");
  if (results < states) return invalid(fmt::format("its body gives {} values", results));
  const std::size_t stacked = results - states;
  ATTUNE_ASSIGN(scan.reverse_inputs,
                scan_list(node, batched ? "directions" : "scan_input_directions", scanned));
  ATTUNE_ASSIGN(scan.reverse_outputs, scan_list(node, "scan_output_directions", stacked));
  if (batched) return scan_batches(node, scan);
  ATTUNE_ASSIGN(const Extents input_axes, scan_list(node, "scan_input_axes", scanned));
  ATTUNE_ASSIGN(const Extents output_axes, scan_list(node, "scan_output_axes", stacked));
  for (std::size_t i = 0; i < scanned; ++i) {
    const int rank = node.rank(scan.inputs[i]);
    ATTUNE_ASSIGN(const std::int64_t axis, node.axis(input_axes[i], rank));
    ATTUNE_ASSIGN(scan.inputs[i], transpose(node, scan.inputs[i], moving(axis, rank, true)));
  }
  ATTUNE_ASSIGN(std::vector<ValueId> outputs, add_scan(node, scan));
  for (std::size_t i = 0; i < stacked; ++i) {
    ValueId& value = outputs[states + i];
    const int rank = node.rank(value);
    ATTUNE_ASSIGN(const std::int64_t axis, node.axis(output_axes[i], rank));
    ATTUNE_ASSIGN(value, transpose(node, value, moving(axis, rank, false)));
  }
  return outputs;
}

}  // namespace attune::onnx
