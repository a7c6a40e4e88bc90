#include "compiler/ir/interpret/tensor_meaning.h"

#include "compiler/ir/text/parse.h"

namespace attune::ir {
namespace {

std::vector<std::int64_t> extents_of(const std::vector<Axis>& axes) {
  std::vector<std::int64_t> extents;
  for (const Axis& axis : axes) extents.push_back(axis.extent);
  return extents;
}

}  // namespace

Result<TensorMeaning> TensorMeaning::compile(const TensorIntrinsic& intrinsic) {
  const Program program = intrinsic.program();
  const Stage& stage = program.stages[0];
  TensorMeaning meaning;
  meaning.axes_ = extents_of(stage.axes);
  meaning.reduce_axes_ = extents_of(stage.reduce_axes);
  meaning.operands_ = {stage.outputs[0]};
  for (const Input& input : program.inputs) meaning.operands_.push_back(input.buffer);
  meaning.evaluator_ = std::make_shared<Evaluator>();
  Evaluator& evaluator = *meaning.evaluator_;
  for (const Axis& axis : stage.axes) evaluator.push_variable(axis.name);
  for (const Axis& axis : stage.reduce_axes) evaluator.push_variable(axis.name);
  meaning.accumulator_ = evaluator.push_variable("accumulator");
  meaning.element_ = evaluator.push_variable("x");
  for (const Buffer& buffer : meaning.operands_) evaluator.add_buffer(buffer);
  const Expr accumulator = var("accumulator", stage.outputs[0]->type);
  ATTUNE_ASSIGN(meaning.update_,
                evaluator.compile(combine(stage.reduction, accumulator, stage.values[0])));
  if (!intrinsic.rounding.empty()) {
    ATTUNE_ASSIGN(const Expr rounding, parse_expr(intrinsic.rounding));
    ATTUNE_ASSIGN(meaning.rounding_, evaluator.compile(rounding));
  }
  return meaning;
}

Value TensorMeaning::rounded(Value element) const {
  if (!rounding_) return element;
  std::optional<Error> failure;
  Frame frame = evaluator_->make_frame(failure);
  frame.variables[element_] = element;
  return rounding_->run(frame, 0);
}

TensorMeaning::Tile TensorMeaning::compute(const std::vector<Tile>& tiles) const {
  std::optional<Error> failure;
  Frame frame = evaluator_->make_frame(failure);
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    auto memory = std::make_shared<Memory>(std::ssize(tiles[i]));
    memory->values = tiles[i];
    std::fill(memory->written.begin(), memory->written.end(), 1);
    frame.memories[i] = std::move(memory);
  }
  Tile results;
  for_each_point(axes_, [&](const std::vector<std::int64_t>& point) {
    for (std::size_t d = 0; d < point.size(); ++d) frame.variables[d].i = point[d];
    Value sum = tiles[0][results.size()];
    for_each_point(reduce_axes_, [&](const std::vector<std::int64_t>& term) {
      for (std::size_t d = 0; d < term.size(); ++d) frame.variables[axes_.size() + d].i = term[d];
      frame.variables[accumulator_] = sum;
      sum = update_->run(frame, 0);
    });
    results.push_back(sum);
  });
  return results;
}

}  // namespace attune::ir
