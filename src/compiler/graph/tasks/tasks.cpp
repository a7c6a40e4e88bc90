#include "compiler/graph/tasks/tasks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/hash.h"
#include "compiler/graph/program.h"
#include "compiler/graph/tasks/anchors.h"
#include "compiler/graph/tasks/attention.h"
#include "compiler/graph/tasks/cell.h"
#include "compiler/graph/tasks/chain.h"
#include "compiler/graph/tasks/group_frame.h"
#include "compiler/graph/tasks/movement.h"
#include "compiler/graph/tasks/product_operands.h"
#include "compiler/graph/tasks/roundings.h"
#include "compiler/graph/tasks/zeros.h"
#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/simplify/simplify.h"
#include "compiler/ir/text/print.h"
#include "compiler/ops/element_types.h"

namespace attune::graph {
namespace {

using ops::OpKind;
using ops::Read;

// Builds the program of a group behind one form of its anchor (or behind nothing).
class GroupProgram {
 public:
  GroupProgram(const Graph& graph, const Group& group)
      : graph_(graph), group_(group), frame_(shared_frame(graph, group)) {}

  Result<ir::Program> build(const Anchor* anchor, const ir::Program* base) {
    program_ = base != nullptr ? *base : ir::Program{};
    inputs_.clear();
    buffers_.clear();
    results_.clear();
    stages_ = 0;
    const ValueId output = node_at(graph_, group_.last()).outputs[0];
    if (anchor != nullptr) {
      bind_inputs(*anchor);
      add_anchor(*anchor, node_at(graph_, anchor_node_), anchor_node_ == group_.last());
    }
    for (const int member : group_.nodes) {
      if (member == anchor_node_ || before_.count(member) > shared_.count(member)) continue;
      ATTUNE_RETURN_IF_ERROR(add_node(node_at(graph_, member), member == group_.last()));
    }
    program_.outputs = {results_.at(output)};
    return std::move(program_);
  }

  void set_anchor(int node, const Frame& frame) {
    anchor_node_ = node;
    frame_ = frame;
    before_.clear();
    const auto& operands = node_at(graph_, node).inputs;
    std::set<ValueId> wanted(operands.begin(), operands.end()), read;
    for (auto member = group_.nodes.rbegin(); member != group_.nodes.rend(); ++member) {
      const Node& moved = node_at(graph_, *member);
      if (is_movement(graph_, moved) && wanted.count(moved.outputs[0]) > 0) {
        before_.insert(*member);
        wanted.insert(moved.inputs[0]);
        if (read.count(moved.outputs[0]) == 0) continue;
        shared_.insert(*member);
      }
      if (*member != node) read.insert(moved.inputs.begin(), moved.inputs.end());
    }
  }
  const std::vector<ValueId>& inputs() const { return inputs_; }

 private:
  // The anchor's operands: values from outside of the group, or read from behind movement.
  void bind_inputs(const Anchor& anchor) {
    const std::vector<ir::Input> declared = std::exchange(program_.inputs, {});
    for (std::size_t i = 0; i < declared.size(); ++i) {
      const ValueId id = anchor.inputs[i];
      if (is_read_through(id, declared[i].buffer)) continue;
      buffers_.emplace(std::pair(id, declared[i].buffer->shape), declared[i].buffer);
      inputs_.push_back(id);
      program_.inputs.push_back(declared[i]);
    }
    for (std::size_t i = declared.size(); i-- > 0;) {
      const ValueId id = anchor.inputs[i];
      if (is_read_through(id, declared[i].buffer)) add_moved(anchor, id, declared[i].buffer);
    }
  }

  // Behind movement, or with leading dimensions that are repeated.
  bool is_read_through(ValueId id, const ir::Buffer& operand) const {
    std::int64_t elements = 1;
    for (const std::int64_t extent : operand->shape) elements *= extent;
    const Value& value = graph_.value(id);
    return is_moved(id) || (!value.layout.is_blocked() && elements != value.type.elements());
  }

  bool is_moved(ValueId id) const {
    return std::any_of(before_.begin(), before_.end(),
                       [&](int member) { return node_at(graph_, member).outputs[0] == id; });
  }

  // A stage before all others that is the operand itself.
  void add_moved(const Anchor& anchor, ValueId id, const ir::Buffer& operand) {
    const Frame frame = plain_frame(operand->shape);
    const std::vector<std::int64_t>& shape = graph_.value(id).type.shape;
    std::vector<std::int64_t> whole = shape;
    if (operand->shape.size() > 2) {  // as many matrices as there are results
      whole = anchor.frame.shape;
      std::copy(shape.end() - 2, shape.end(), whole.end() - 2);
    }
    const ir::Expr value = moved_element(
        graph_, before_, id, ops::broadcast_index(shape, unmerged_index(whole, frame.variables())),
        [&](ValueId source, const std::vector<ir::Expr>& at) { return read_of(source)(at); });
    const ir::Expr element = ir::simplify(value, frame.ranges());
    program_.stages.insert(
        program_.stages.begin(),
        {operand->name, frame.axes, {}, ir::Reduction::None, {element}, {operand}});
  }

  const Frame& shared_or(const Value& value, Frame& own) const {
    const bool fits = value.type.shape == frame_.shape && value.layout.block == frame_.block;
    if (fits) return frame_;
    own = frame_of(value);
    return own;
  }

  std::string next_name(bool last) {
    return last ? "output" : fmt::format("epilogue.{}", stages_++);
  }

  // A buffer for a value from outside of the group, in the given shape.
  ir::Buffer input_buffer(ValueId id, const std::vector<std::int64_t>& shape) {
    const auto key = std::pair(id, shape);
    if (const auto known = buffers_.find(key); known != buffers_.end()) return known->second;
    const Value& value = graph_.value(id);
    const auto number = std::count_if(
        program_.inputs.begin(), program_.inputs.end(),
        [](const ir::Input& input) { return input.buffer->name.starts_with("operand"); });
    const ir::Buffer buffer = ir::add_input(program_, fmt::format("operand{}", number),
                                            value.type.dtype, shape, value.constant != nullptr);
    inputs_.push_back(id);
    buffers_.emplace(key, buffer);
    return buffer;
  }

  // The element of an operand that an elementwise node sees at a place of its frame.
  ir::Expr operand_at(ValueId id, const Frame& frame) {
    if (const auto known = results_.find(id); known != results_.end()) {
      return result_at(id, known->second, frame);
    }
    const Value& value = graph_.value(id);
    if (value.constant != nullptr && value.type.elements() == 1) return immediate(*value.constant);
    if (frame.block != 0 && is_per_channel(value, frame)) return channel_constant(id, frame);
    if (const auto shape = shape_in_frame(frame, value)) {
      const ir::Buffer buffer = input_buffer(id, *shape);
      std::vector<ir::Expr> index = frame.variables();
      for (std::size_t a = 0; a < index.size(); ++a) {
        if ((*shape)[a] == 1) index[a] = ir::Expr(0);
      }
      return ir::load(buffer, index);
    }
    const ir::Buffer buffer = input_buffer(id, physical_shape(value.type, value.layout));
    const ir::Expr element =
        read_element(buffer, value.layout, ops::broadcast_index(value.type.shape, frame.index));
    return guarded(element, frame);
  }

  // A value of the group itself: by the axes where it has the same frame.
  ir::Expr result_at(ValueId id, const ir::Buffer& buffer, const Frame& frame) const {
    const Value& value = graph_.value(id);
    if (value.type.shape == frame.shape && buffer->shape.size() == frame.axes.size() &&
        value.layout.block == frame.block) {
      return ir::cast(value.type.dtype, ir::load(buffer, frame.variables()));
    }
    const ir::Expr element =
        read_element(buffer, value.layout, ops::broadcast_index(value.type.shape, frame.index));
    return guarded(ir::cast(value.type.dtype, element), frame);
  }

  // The constant in whole blocks, computed ahead.
  ir::Expr channel_constant(ValueId id, const Frame& frame) {
    const std::int64_t channels = frame.shape[1];
    const ir::Buffer source = input_buffer(id, {channels});
    const std::string name = "const." + source->name;
    const ir::Stage* stage = program_.find_stage(name);
    ir::Buffer blocks;
    if (stage != nullptr) {
      blocks = stage->outputs[0];
    } else {
      const std::vector<ir::Axis> axes{{"c", frame.axes[1].extent}, {"b", frame.block}};
      const ir::Expr channel = ir::var("c") * ir::Expr(frame.block) + ir::var("b");
      ir::Expr value = ir::load(source, {channel});
      if (frame.is_ragged()) {
        value = ir::select(channel < ir::Expr(channels), value, ir::zero_of(value.type()));
      }
      blocks = ir::add_compute(program_, name, axes, value);
    }
    return ir::load(blocks, {ir::axis_var(frame.axes[1]), ir::axis_var(frame.axes[4])});
  }

  void add_anchor(const Anchor& anchor, const Node& node, bool last) {
    const ValueId id = node.outputs[0];
    if (last && anchor.bias == kNoValue) {
      results_[id] = program_.outputs[0];
      return;
    }
    // The operator's own last stage becomes the first of those that are fused into the output.
    const ir::Stage& stage = *program_.producer(program_.outputs[0]);
    CHECK(stage.name == "output", "operators end in the stage 'output'");
    program_.stages.back() = renamed_unrounded(stage, next_name(false));
    const ir::Buffer value = program_.stages.back().outputs[0];
    results_[id] = value;
    if (anchor.bias == kNoValue) return;
    const ir::Expr x = ir::load(value, frame_.variables());
    const ir::Expr sum = x + bias_at(anchor.bias, x.type());
    results_[id] = ir::add_compute(program_, next_name(last), frame_.axes,
                                   last ? ir::cast(graph_.value(id).type.dtype, sum) : sum);
  }

  ir::Expr bias_at(ValueId id, ir::DType type) {
    const Value& value = graph_.value(id);
    if (value.constant != nullptr) return ir::cast(type, channel_constant(id, frame_));
    const ir::Buffer buffer = input_buffer(id, value.type.shape);
    return ir::cast(type, guarded(ir::load(buffer, {frame_.index[1]}), frame_));
  }

  Status add_node(const Node& node, bool last) {
    const ops::OpDef& def = operator_of(node);
    const ops::OpCall call = call_of(graph_, node);
    const Value& output = graph_.value(node.outputs[0]);
    Frame own;
    const Frame& frame = shared_or(output, own);
    ir::Expr value;
    if (def.kind == OpKind::Elementwise) {
      std::vector<ir::Expr> values;
      for (const ValueId id : node.inputs) {
        values.push_back(id == kNoValue ? ir::Expr() : operand_at(id, frame));
      }
      value = def.scalar(call, values);
      if (!def.traits.finite) value = guarded(ir::cast(output.type.dtype, value), frame);
    } else {
      std::vector<Read> reads;
      for (const ValueId id : node.inputs) {
        reads.push_back(def.traits.stays_in_place ? read_in_place(id, frame) : read_of(id));
      }
      if (def.element != nullptr) {
        value = def.element(call, reads, frame.index);
      } else {
        auto built = def.stages(program_, call, reads);
        if (!built.ok()) return built.error();
        if (last && can_be_output(*built, frame, output)) {
          results_[node.outputs[0]] = rename_last(*built);
          return {};
        }
        value = ir::load(*built, frame.index);
      }
      value = guarded(ir::cast(output.type.dtype, value), frame);
    }
    value = without_roundings(ir::cast(output.type.dtype, value));
    if (!last && (def.traits.narrow || def.kind == OpKind::View)) value = before_rounding(value);
    value = ir::simplify(value, frame.ranges());
    results_[node.outputs[0]] = ir::add_compute(program_, next_name(last), frame.axes, value);
    return {};
  }

  // Whether the stage that computes the result of an operator is the output already, but for its
  // name.
  bool can_be_output(const ir::Buffer& buffer, const Frame& frame, const Value& output) const {
    const ir::Stage& stage = program_.stages.back();
    return stage.outputs.size() == 1 && stage.outputs[0] == buffer &&
           stage.reduction == ir::Reduction::None && buffer->type == output.type.dtype &&
           frame.block == 0 && buffer->shape == output.type.shape;
  }

  ir::Buffer rename_last(const ir::Buffer& buffer) {
    ir::Stage& stage = program_.stages.back();
    stage.name = "output";
    stage.outputs = {ir::make_buffer("output", buffer->type, buffer->shape)};
    return stage.outputs[0];
  }

  // For those who ask for the element at their own place alone.
  Read read_in_place(ValueId id, const Frame& frame) {
    return [e = operand_at(id, frame)](const std::vector<ir::Expr>&) { return e; };
  }

  Read read_of(ValueId id) {
    if (id == kNoValue) return {};
    const Value& value = graph_.value(id);
    if (value.constant != nullptr && value.type.elements() == 1) {
      return [e = immediate(*value.constant)](const std::vector<ir::Expr>&) { return e; };
    }
    const auto known = results_.find(id);
    if (known != results_.end()) {
      CHECK(known->second->shape == physical_shape(value.type, value.layout),
            "a value in a merged frame is read by elementwise nodes only");
    }
    const ir::Buffer buffer = known != results_.end()
                                  ? known->second
                                  : input_buffer(id, physical_shape(value.type, value.layout));
    const Layout layout = value.layout;
    return [buffer, layout, type = value.type.dtype](const std::vector<ir::Expr>& index) {
      return ir::cast(type, read_element(buffer, layout, index));
    };
  }

  const Graph& graph_;
  const Group& group_;
  int anchor_node_ = -1;
  std::set<int> before_, shared_;  // movement that the anchor reads through; that others read too
  Frame frame_;
  ir::Program program_;
  std::vector<ValueId> inputs_;
  // Of values from outside, by the shape in which they are read.
  std::map<std::pair<ValueId, std::vector<std::int64_t>>, ir::Buffer> buffers_;
  std::map<ValueId, ir::Buffer> results_;  // of values of the group
  int stages_ = 0;
};

// A value that a member makes is never in memory.
void check_come_from_outside(const Graph& graph, const Group& group,
                             const std::vector<ValueId>& inputs) {
  for (const int member : group.nodes) {
    for (const ValueId made : node_at(graph, member).outputs) {
      CHECK(std::count(inputs.begin(), inputs.end(), made) == 0,
            "no task reads from memory what one of its own nodes makes");
    }
  }
}

std::string name_of(const Graph& graph, const Group& group, const ir::Program& program) {
  std::string name = program.name;
  for (const int member : group.nodes) {
    const Node& node = node_at(graph, member);
    if (name.empty()) {
      name = node.op;
    } else if (operator_of(node).kind != OpKind::Heavy) {
      name += "+" + node.op;
    }
  }
  const TensorType& type = graph.value(node_at(graph, group.last()).outputs[0]).type;
  return type.shape.empty() ? name : fmt::format("{} {}", name, fmt::join(type.shape, "x"));
}

}  // namespace

Result<Task> make_task(const Graph& graph, const Group& group, const std::vector<bool>& zeros) {
  if (const auto parts = cut_chain(graph, group)) {
    ATTUNE_ASSIGN(Task first, make_task(graph, parts->first, zeros));
    ATTUNE_ASSIGN(Task second, make_task(graph, parts->second, zeros));
    return chain(std::move(first), std::move(second));
  }
  if (const auto parts = cut_attention(graph, group)) {
    ATTUNE_ASSIGN(Task scores, make_task(graph, parts->scores, zeros));
    ATTUNE_ASSIGN(Task product, make_task(graph, parts->product, zeros));
    return attention(graph, std::move(scores), std::move(product), parts->weights);
  }
  std::optional<Anchor> anchor;
  bool has_fewer = false;  // algorithms than others with the same program
  GroupProgram builder(graph, group);
  for (const int member : group.nodes) {
    ATTUNE_ASSIGN(std::optional<Anchor> found, make_anchor(graph, node_at(graph, member)));
    if (!found) continue;
    const auto result = static_cast<std::size_t>(node_at(graph, member).outputs[0]);
    has_fewer = !zeros.empty() && zeros[result] && forget_mixing(found->op);
    if (rounds_operands(graph, node_at(graph, member))) round_operands(found->op);
    builder.set_anchor(member, found->frame);
    anchor = std::move(found);
    break;
  }
  Task task;
  task.output = node_at(graph, group.last()).outputs[0];
  const Anchor* behind = anchor ? &*anchor : nullptr;
  ATTUNE_ASSIGN(task.op.program, builder.build(behind, behind ? &behind->op.program : nullptr));
  task.inputs = builder.inputs();
  check_come_from_outside(graph, group, task.inputs);
  const TensorType& type = graph.value(task.output).type;
  task.op.tolerance = behind ? behind->op.tolerance : ops::tolerance_of(type.dtype);
  task.op.flops = behind ? behind->op.flops : static_cast<double>(type.elements());
  task.name = name_of(graph, group, task.op.program);
  if (task.op.program.name.empty()) task.op.program.name = node_at(graph, group.nodes.front()).op;
  const std::optional<std::int64_t> columns = columns_of_part(graph, group);
  if (behind != nullptr && columns) return cell(std::move(task), *columns);
  if (behind != nullptr) {
    for (const ops::AlgorithmDef& other : behind->op.alternatives) {
      ATTUNE_ASSIGN(ir::Program program, builder.build(behind, &other.program));
      CHECK(builder.inputs() == task.inputs, "all algorithms of a task read the same values");
      task.op.alternatives.push_back(other);
      task.op.alternatives.back().program = std::move(program);
    }
  }
  ATTUNE_RETURN_IF_ERROR(ir::verify(task.op.program));
  task.key = hex64(ir::hash(task.op.program) ^ (has_fewer ? kKeyOfZeros : 0));
  return task;
}

}  // namespace attune::graph
