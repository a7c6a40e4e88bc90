#include "compiler/ir/interpret/tensor_call.h"

#include <fmt/format.h>

namespace attune::ir {
namespace {

// Goes through all points of a box, the last dimension fastest.
template <typename Each>
void for_each_point(const std::vector<std::int64_t>& extents, Each&& each) {
  std::vector<std::int64_t> point(extents.size(), 0);
  while (true) {
    each(point);
    std::size_t d = extents.size();
    while (d > 0 && ++point[d - 1] == extents[d - 1]) point[--d] = 0;
    if (d == 0) return;
  }
}

std::vector<std::int64_t> extents_of(const std::vector<Axis>& axes) {
  std::vector<std::int64_t> extents;
  for (const Axis& axis : axes) extents.push_back(axis.extent);
  return extents;
}

}  // namespace

Result<TensorCall> TensorCall::compile(const Opaque& call, const TensorIntrinsic& intrinsic,
                                       Evaluator& evaluator) {
  const Program program = intrinsic.program();
  const Stage& stage = program.stages[0];
  TensorCall compiled;
  compiled.cycles_ = intrinsic.cycles;
  compiled.axes_ = extents_of(stage.axes);
  compiled.reduce_axes_ = extents_of(stage.reduce_axes);
  std::vector<Buffer> buffers{stage.outputs[0]};
  for (const Input& input : program.inputs) buffers.push_back(input.buffer);
  std::size_t next = 0;
  const auto wrong = [&] {
    return invalid(
        fmt::format("intrinsic '{}' is called with other operands than it is declared "
                    "with",
                    call.name));
  };
  for (const Buffer& buffer : buffers) {
    const auto* place = next < call.args.size() ? as<Load>(call.args[next++]) : nullptr;
    if (!place || place->buffer->type != buffer->type) return wrong();
    Operand operand{nullptr, {}, buffer->shape};
    ATTUNE_ASSIGN(operand.access, evaluator.compile_access(place->buffer, place->index));
    for (std::size_t d = 0; d < buffer->shape.size(); ++d) {
      const auto* stride = next < call.args.size() ? as_int(call.args[next++]) : nullptr;
      if (!stride) return wrong();
      operand.strides.push_back(*stride);
    }
    compiled.operands_.push_back(std::move(operand));
  }
  compiled.meaning_ = std::make_shared<Evaluator>();
  Evaluator& meaning = *compiled.meaning_;
  for (const Axis& axis : stage.axes) meaning.push_variable(axis.name);
  for (const Axis& axis : stage.reduce_axes) meaning.push_variable(axis.name);
  compiled.accumulator_ = meaning.push_variable("accumulator");
  for (const Buffer& buffer : buffers) meaning.add_buffer(buffer);
  const Expr accumulator = var("accumulator", buffers[0]->type);
  ATTUNE_ASSIGN(compiled.update_,
                meaning.compile(combine(stage.reduction, accumulator, stage.values[0])));
  return compiled;
}

template <typename Each>
bool TensorCall::visit(const Operand& operand, Frame& frame, const char* action,
                       Each&& each) const {
  const Access& access = *operand.access;
  const std::int64_t base = access.locate(frame, 0, action);
  std::int64_t number = 0;
  const std::int64_t count = element_count(*access.buffer);
  for_each_point(operand.shape, [&](const std::vector<std::int64_t>& point) {
    if (frame.failed()) return;
    std::int64_t position = base;
    for (std::size_t d = 0; d < point.size(); ++d) position += point[d] * operand.strides[d];
    if (position < 0 || position >= count) {
      access.fail(frame, position, Fault::OutOfBounds,
                  fmt::format("{} of '{}' at [{}] by an intrinsic, shape [{}], is out of bounds",
                              action, access.buffer->name, position, count));
      return;
    }
    each(number++, position);
  });
  return !frame.failed();
}

void TensorCall::run(Frame& frame) const {
  std::optional<Error> failure;
  Frame inner = meaning_->make_frame(failure);
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const Operand& operand = operands_[i];
    std::int64_t elements = 1;
    for (std::int64_t extent : operand.shape) elements *= extent;
    auto tile = std::make_shared<Memory>(elements);
    inner.memories[i] = tile;
    const Memory& memory = *frame.memories[operand.access->slot];
    const bool read = visit(operand, frame, "load", [&](std::int64_t number, std::int64_t at) {
      if (frame.watch) frame.watch->on_read(frame, *operand.access, at);
      if (!memory.written[static_cast<std::size_t>(at)]) {
        operand.access->fail(
            frame, at, Fault::Uninitialised,
            fmt::format("load of '{}' at [{}] by an intrinsic reads an element that was never "
                        "written",
                        operand.access->buffer->name, at));
      }
      tile->values[static_cast<std::size_t>(number)] = memory.values[static_cast<std::size_t>(at)];
      tile->written[static_cast<std::size_t>(number)] = 1;
    });
    if (!read) return;
  }
  std::vector<Value> results;
  for_each_point(axes_, [&](const std::vector<std::int64_t>& point) {
    for (std::size_t d = 0; d < point.size(); ++d) inner.variables[d].i = point[d];
    Value sum = inner.memories[0]->values[results.size()];
    for_each_point(reduce_axes_, [&](const std::vector<std::int64_t>& term) {
      for (std::size_t d = 0; d < term.size(); ++d) inner.variables[axes_.size() + d].i = term[d];
      inner.variables[accumulator_] = sum;
      sum = update_->run(inner, 0);
    });
    results.push_back(sum);
  });
  Memory& output = *frame.memories[operands_[0].access->slot];
  visit(operands_[0], frame, "store", [&](std::int64_t number, std::int64_t at) {
    const Value value = results[static_cast<std::size_t>(number)];
    if (frame.watch) frame.watch->on_write(frame, *operands_[0].access, at, value);
    output.values[static_cast<std::size_t>(at)] = value;
    output.written[static_cast<std::size_t>(at)] = 1;
  });
}

}  // namespace attune::ir
