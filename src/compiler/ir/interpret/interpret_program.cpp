// Programs: every stage element by element, all of them or on demand.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

#include "base/check.h"
#include "compiler/ir/interpret/evaluate.h"
#include "compiler/ir/interpret/interpret.h"

namespace attune::ir {
namespace {

// A stage ready to run.
struct StageCode {
  const Stage* stage = nullptr;
  std::vector<std::size_t> axes, reduce_axes;  // slots of variables
  std::vector<const Node*> values;
  std::vector<std::size_t> outputs;  // slots of memories
  Node combine;                      // of the values in the two slots below
  std::size_t left_slot = 0, right_slot = 0;
  Value identity{};
};

class ProgramRun {
 public:
  Status prepare(const Program& program, const std::vector<Array>& inputs);
  void run_all(const std::vector<Array>& inputs);
  // Elements are computed, and those of inputs read, when they are asked for.
  void run_on_demand(const std::vector<Array>& inputs);
  Memory& memory(const Buffer& buffer) { return *frame_.memories[slots_.at(buffer.get())]; }
  Frame& frame() { return frame_; }
  const std::optional<Error>& failure() const { return failure_; }

 private:
  Status prepare_stage(const Stage& stage);
  void compute(const StageCode& code, std::int64_t position, Frame& frame) const;
  void reduce(const StageCode& code, Frame& frame, Value* results) const;

  const Program* program_ = nullptr;
  Evaluator evaluator_;
  std::vector<std::unique_ptr<StageCode>> stages_;
  std::unordered_map<const BufferNode*, std::size_t> slots_;
  std::optional<Error> failure_;
  Frame frame_;
};

Status check_inputs(const Program& program, const std::vector<Array>& inputs) {
  if (inputs.size() != program.inputs.size()) {
    return invalid(fmt::format("program '{}' takes {} inputs, {} were given", program.name,
                               program.inputs.size(), inputs.size()));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const BufferNode& wanted = *program.inputs[i].buffer;
    if (inputs[i].type != wanted.type || inputs[i].shape != wanted.shape) {
      return invalid(fmt::format("input '{}' is {}[{}], {}[{}] was given", wanted.name,
                                 to_string(wanted.type), fmt::join(wanted.shape, ", "),
                                 to_string(inputs[i].type), fmt::join(inputs[i].shape, ", ")));
    }
  }
  return {};
}

Status ProgramRun::prepare(const Program& program, const std::vector<Array>& inputs) {
  program_ = &program;
  ATTUNE_RETURN_IF_ERROR(check_inputs(program, inputs));
  for (const Input& input : program.inputs) {
    slots_[input.buffer.get()] = evaluator_.add_buffer(input.buffer);
  }
  for (const Stage& stage : program.stages) ATTUNE_RETURN_IF_ERROR(prepare_stage(stage));
  frame_ = evaluator_.make_frame(failure_);
  for (const Input& input : program.inputs) {
    frame_.memories[slots_.at(input.buffer.get())] =
        std::make_shared<Memory>(element_count(*input.buffer));
  }
  for (const Stage& stage : program.stages) {
    for (const Buffer& output : stage.outputs) {
      frame_.memories[slots_.at(output.get())] = std::make_shared<Memory>(element_count(*output));
    }
  }
  for (const Buffer& output : program.outputs) {
    if (!program.producer(output)) {
      return invalid(fmt::format("output '{}' is computed by no stage", output->name));
    }
  }
  return {};
}

Status ProgramRun::prepare_stage(const Stage& stage) {
  auto code = std::make_unique<StageCode>();
  code->stage = &stage;
  for (const Axis& axis : stage.axes) code->axes.push_back(evaluator_.push_variable(axis.name));
  for (const Axis& axis : stage.reduce_axes) {
    code->reduce_axes.push_back(evaluator_.push_variable(axis.name));
  }
  for (const Expr& value : stage.values) {
    ATTUNE_ASSIGN(const Node* node, evaluator_.compile(value));
    code->values.push_back(node);
  }
  for (std::size_t i = 0; i < stage.axes.size() + stage.reduce_axes.size(); ++i) {
    evaluator_.pop_variable();
  }
  for (const Buffer& output : stage.outputs) {
    code->outputs.push_back(slots_[output.get()] = evaluator_.add_buffer(output));
  }
  if (stage.reduction != Reduction::None) {
    const DType type = stage.values[0].type();
    ATTUNE_ASSIGN(const Node* identity, evaluator_.compile(identity_of(stage.reduction, type)));
    code->identity = identity->constant;
    code->left_slot = evaluator_.push_variable("reduce.left");
    code->right_slot = evaluator_.push_variable("reduce.right");
    const Expr left = var("reduce.left", type), right = var("reduce.right", type);
    Expr step;
    switch (stage.reduction) {
      case Reduction::ArgMax:
        step = right > left;  // is the right one better?
        break;
      case Reduction::ArgMin:
        step = right < left;
        break;
      default:
        step = combine(stage.reduction, left, right);
    }
    ATTUNE_ASSIGN(const Node* node, evaluator_.compile(step));
    code->combine = *node;
    evaluator_.pop_variable();
    evaluator_.pop_variable();
  }
  stages_.push_back(std::move(code));
  return {};
}

// Runs over the reduction axes, the last one fastest.
void ProgramRun::reduce(const StageCode& code, Frame& frame, Value* results) const {
  const auto& axes = code.stage->reduce_axes;
  const bool pair = code.values.size() == 2;
  results[0] = code.identity;
  bool first = true;
  for (const Axis& axis : axes) {
    if (axis.extent <= 0) return;
  }
  for (const std::size_t slot : code.reduce_axes) frame.variables[slot].i = 0;
  while (!frame.failed()) {
    const Value value = code.values[0]->run(frame, 0);
    frame.variables[code.left_slot] = results[0];
    frame.variables[code.right_slot] = value;
    const Value combined = code.combine.run(frame, 0);
    if (!pair) {
      results[0] = combined;
    } else if (first || combined.i) {
      results[0] = value;
      results[1] = code.values[1]->run(frame, 0);
    }
    first = false;
    std::size_t d = axes.size();
    while (d > 0 && ++frame.variables[code.reduce_axes[d - 1]].i == axes[d - 1].extent) {
      frame.variables[code.reduce_axes[--d]].i = 0;
    }
    if (d == 0) return;
  }
}

void ProgramRun::compute(const StageCode& code, std::int64_t position, Frame& frame) const {
  std::int64_t rest = position;
  for (std::size_t d = code.axes.size(); d-- > 0;) {
    const std::int64_t extent = code.stage->axes[d].extent;
    frame.variables[code.axes[d]].i = rest % extent;
    rest /= extent;
  }
  Value results[2]{};
  if (code.stage->reduction == Reduction::None) {
    results[0] = code.values[0]->run(frame, 0);
  } else {
    reduce(code, frame, results);
  }
  if (frame.failed()) return;
  for (std::size_t i = 0; i < code.outputs.size(); ++i) {
    Memory& memory = *frame.memories[code.outputs[i]];
    const DType type = code.stage->outputs[i]->type;
    const auto at = static_cast<std::size_t>(position);
    if (type.is_float() && type.bits == 16) results[i].f = round_to(type, results[i].f);
    memory.values[at] = results[i];
    memory.written[at] = 1;
  }
}

void ProgramRun::run_all(const std::vector<Array>& inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    memory(program_->inputs[i].buffer).assign(inputs[i]);
  }
  for (const auto& code : stages_) {
    const std::int64_t count = element_count(*code->stage->outputs[0]);
    for (std::int64_t i = 0; i < count && !failure_; ++i) compute(*code, i, frame_);
  }
}

void ProgramRun::run_on_demand(const std::vector<Array>& inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Memory& read = memory(program_->inputs[i].buffer);
    read.producer = [&read, &array = inputs[i]](std::int64_t position, Frame&) {
      read.assign(array, position);
    };
  }
  for (const auto& code : stages_) {
    for (const std::size_t slot : code->outputs) {
      frame_.memories[slot]->producer = [this, c = code.get()](std::int64_t position,
                                                               Frame& frame) {
        compute(*c, position, frame);
      };
    }
  }
}

}  // namespace

Result<std::vector<Array>> interpret(const Program& program, const std::vector<Array>& inputs) {
  ProgramRun run;
  ATTUNE_RETURN_IF_ERROR(run.prepare(program, inputs));
  run.run_all(inputs);
  if (run.failure()) return *run.failure();
  std::vector<Array> outputs;
  for (const Buffer& output : program.outputs) {
    outputs.emplace_back(output->type, output->shape);
    run.memory(output).copy_to(outputs.back());
  }
  return outputs;
}

Result<std::vector<double>> interpret_at(const Program& program, const std::vector<Array>& inputs,
                                         std::size_t output,
                                         const std::vector<std::vector<std::int64_t>>& positions) {
  CHECK(output < program.outputs.size(), "an output of the program");
  ProgramRun run;
  ATTUNE_RETURN_IF_ERROR(run.prepare(program, inputs));
  run.run_on_demand(inputs);
  const BufferNode& buffer = *program.outputs[output];
  Memory& memory = run.memory(program.outputs[output]);
  std::vector<double> values;
  for (const auto& position : positions) {
    std::int64_t flat = 0;
    bool inside = position.size() == buffer.shape.size();
    for (std::size_t d = 0; inside && d < position.size(); ++d) {
      inside = position[d] >= 0 && position[d] < buffer.shape[d];
      flat = flat * buffer.shape[d] + position[d];
    }
    if (!inside) {
      return invalid(fmt::format("position [{}] is outside of output '{}' of shape [{}]",
                                 fmt::join(position, ", "), buffer.name,
                                 fmt::join(buffer.shape, ", ")));
    }
    const auto at = static_cast<std::size_t>(flat);
    if (!memory.written[at]) memory.producer(flat, run.frame());
    if (run.failure()) return *run.failure();
    const Value value = memory.values[at];
    values.push_back(buffer.type.is_float() ? value.f : static_cast<double>(value.i));
  }
  return values;
}

}  // namespace attune::ir
