#include "compiler/codegen/tensor_loops.h"

#include "base/check.h"
#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"

namespace attune::codegen {
namespace {

using ir::Expr;

// Where an operand lies: its first element, and the distance to the next one in each dimension.
struct Place {
  ir::Buffer buffer;
  Expr first;
  std::vector<Expr> strides;

  Expr at(const std::vector<Expr>& point) const {
    Expr index = first;
    for (std::size_t d = 0; d < point.size(); ++d) index = index + point[d] * strides[d];
    return index;
  }
};

std::vector<Place> places_of(const ir::Opaque& call, const ir::Program& program) {
  std::vector<ir::Buffer> operands{program.stages[0].outputs[0]};
  for (const ir::Input& input : program.inputs) operands.push_back(input.buffer);
  std::vector<Place> places;
  std::size_t next = 0;
  for (const ir::Buffer& operand : operands) {
    CHECK(next + operand->shape.size() < call.args.size(), "an operand and its strides");
    const auto* load = ir::as<ir::Load>(call.args[next++]);
    CHECK(load && load->index.size() == 1, "operands of intrinsics are loads of one index");
    Place place{load->buffer, load->index[0], {}};
    for (std::size_t d = 0; d < operand->shape.size(); ++d) {
      place.strides.push_back(call.args[next++]);
    }
    places.push_back(std::move(place));
  }
  return places;
}

ir::Stmt loops_of(const ir::Opaque& call, const ir::TensorIntrinsic& intrinsic) {
  const ir::Program program = intrinsic.program();
  const ir::Stage& stage = program.stages[0];
  const std::vector<Place> places = places_of(call, program);
  const auto name = [&](const ir::Axis& axis) { return call.name + "." + axis.name; };
  ir::Bindings variables;
  for (const auto* axes : {&stage.axes, &stage.reduce_axes}) {
    for (const ir::Axis& axis : *axes) variables.emplace(axis.name, ir::var(name(axis)));
  }
  Expr value = ir::substitute(stage.values[0], variables);
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    value = ir::replace_loads(value, program.inputs[i].buffer, [&](const std::vector<Expr>& index) {
      return ir::load(places[i + 1].buffer, {places[i + 1].at(index)});
    });
  }
  std::vector<Expr> point;
  for (const ir::Axis& axis : stage.axes) point.push_back(variables.at(axis.name));
  const Place& output = places[0];
  const Expr at = output.at(point);
  ir::Stmt body = ir::store(output.buffer, {at},
                            ir::combine(stage.reduction, ir::load(output.buffer, {at}), value));
  for (const auto* axes : {&stage.axes, &stage.reduce_axes}) {
    for (auto axis = axes->rbegin(); axis != axes->rend(); ++axis) {
      body = ir::for_loop(name(*axis), 0, axis->extent, body);
    }
  }
  return body;
}

}  // namespace

ir::Stmt expand_tensor_calls(const ir::Stmt& s) {
  const auto* x = ir::as<ir::Evaluate>(s);
  const auto* call = x ? ir::as<ir::Opaque>(x->value) : nullptr;
  if (call) {
    const ir::TensorIntrinsic* intrinsic = ir::find_tensor_intrinsic(call->name);
    return intrinsic && intrinsic->lanes() == 1 ? loops_of(*call, *intrinsic) : s;
  }
  return ir::map_children(
      s, [](const ir::Stmt& child) { return expand_tensor_calls(child); },
      [](const Expr& e) { return e; });
}

}  // namespace attune::codegen
