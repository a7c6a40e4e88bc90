#include "compiler/kernel/in_place.h"

#include <algorithm>

#include "compiler/ir/nodes/rewrite.h"

namespace attune::kernel {
namespace {

bool is_axis(const ir::Expr& index, const ir::Axis& axis) {
  if (const auto* number = ir::as<ir::IntImm>(index)) return axis.extent == 1 && number->value == 0;
  const auto* var = ir::as<ir::Var>(index);
  return var != nullptr && var->name == axis.name;
}

// Whether the stage computes each element of the same element of what it loads here.
bool reads_same_element(const ir::Stage& stage, const ir::Load& load) {
  if (stage.reduction != ir::Reduction::None || stage.outputs.size() != 1) return false;
  if (load.buffer->shape != stage.outputs[0]->shape) return false;
  return std::equal(load.index.begin(), load.index.end(), stage.axes.begin(), stage.axes.end(),
                    is_axis);
}

// How a stage reads a buffer.
enum class Reading { None, SameElement, Other };

Reading reading_of(const ir::Stage& stage, const ir::Buffer& buffer) {
  Reading reading = Reading::None;
  for (const ir::Expr& value : stage.values) {
    ir::visit(value, [&](const ir::Expr& e) {
      const auto* load = ir::as<ir::Load>(e);
      if (load == nullptr || load->buffer != buffer || reading == Reading::Other) return;
      reading = reads_same_element(stage, *load) ? Reading::SameElement : Reading::Other;
    });
  }
  return reading;
}

// Whether every way from the buffer to the output leads to the same element of it.
bool is_in_place(const ir::Program& program, const ir::Buffer& buffer) {
  bool read = false;
  for (const ir::Stage& stage : program.stages) {
    const Reading reading = reading_of(stage, buffer);
    if (reading == Reading::None) continue;
    if (reading == Reading::Other) return false;
    const ir::Buffer& computed = stage.outputs[0];
    if (computed != program.outputs[0] && !is_in_place(program, computed)) return false;
    read = true;
  }
  return read;
}

bool claims_stores(const schedule::Trace& trace) {
  return std::any_of(trace.begin(), trace.end(), [](const schedule::Step& step) {
    const auto* note = std::get_if<schedule::Annotate>(&step);
    return note != nullptr && note->key == "claim";
  });
}

}  // namespace

std::vector<bool> inputs_in_place(const ir::Program& program, const schedule::Trace& trace) {
  std::vector<bool> result(program.inputs.size(), false);
  if (program.outputs.size() != 1 || claims_stores(trace)) return result;
  const ir::Buffer& output = program.outputs[0];
  for (std::size_t i = 0; i < result.size(); ++i) {
    const ir::Input& input = program.inputs[i];
    result[i] = !input.constant && input.buffer->type == output->type &&
                input.buffer->shape == output->shape && is_in_place(program, input.buffer);
  }
  return result;
}

}  // namespace attune::kernel
