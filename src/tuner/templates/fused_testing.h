// Test support: programs as fused groups of a graph make them. What follows the anchor comes as
// stages epilogue.0, epilogue.1, … and the new output; constants that they read are padded to whole
// blocks by stages const.NAME.
#pragma once

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ops/operator.h"

namespace attune::templates {

struct Epilogue {
  bool bias = true;      // a constant per channel (or per column)
  bool residual = true;  // a tensor like the output
  bool scale = false;    // a tensor [n, c, 1, 1, B]; blocked outputs only
  bool relu = true;
};

// The axes of the new stages are called d0, d1, ….
inline ir::Program with_epilogue(ir::Program program, const Epilogue& epilogue) {
  const ir::Stage last = program.stages.back();
  std::vector<ir::Axis> axes;
  ir::Bindings renamed;
  for (std::size_t d = 0; d < last.axes.size(); ++d) {
    axes.push_back({"d" + std::to_string(d), last.axes[d].extent});
    renamed[last.axes[d].name] = ir::axis_var(axes.back());
  }
  const std::vector<ir::Expr> index = ops::index_of(axes);
  program.stages.pop_back();
  int count = 0;
  while (program.find_stage("epilogue." + std::to_string(count))) ++count;
  const auto add = [&](const ir::Expr& value) {
    const std::string name = "epilogue." + std::to_string(count++);
    return ir::load(ir::add_compute(program, name, axes, value), index);
  };
  const ir::DType type = last.values[0].type();
  ir::Expr value = last.reduction == ir::Reduction::None
                       ? add(ir::substitute(last.values[0], renamed))
                       : ir::load(ir::add_reduce(program, "anchor", last.axes, last.reduce_axes,
                                                 last.reduction, last.values[0]),
                                  index);
  const bool blocked = axes.size() == 5;
  if (epilogue.bias) {
    const std::int64_t block = blocked ? axes.back().extent : 1;
    const ir::Axis c{"c", blocked ? axes[1].extent * block : axes.back().extent};
    const std::int64_t real = std::max<std::int64_t>(1, c.extent - block / 2);
    const ir::Buffer bias = ir::add_input(program, "bias", type, {real}, true);
    const ir::Buffer padded =
        ir::add_compute(program, "const.bias", {c},
                        ir::select(ir::axis_var(c) < ir::Expr(real),
                                   ir::load(bias, {ir::axis_var(c)}), ir::zero_of(type)));
    const ir::Expr at = blocked ? index[1] * ir::Expr(block) + index.back() : index.back();
    value = add(value + ir::load(padded, {at}));
  }
  const std::vector<std::int64_t> shape = last.outputs[0]->shape;
  if (epilogue.scale && blocked) {
    const ir::Buffer scale =
        ir::add_input(program, "scale", type, {shape[0], shape[1], 1, 1, shape[4]});
    value = add(value * ir::load(scale, {index[0], index[1], ir::Expr(0), ir::Expr(0), index[4]}));
  }
  if (epilogue.residual) {
    const ir::Buffer residual = ir::add_input(program, "residual", type, shape);
    value = add(value + ir::load(residual, index));
  }
  if (epilogue.relu) value = ir::max(value, ir::zero_of(type));
  program.outputs = {ir::add_compute(program, "output", axes, value)};
  return program;
}

// The first input that is not constant goes through a stage prologue.0 first.
inline ir::Program with_prologue(ir::Program program) {
  ir::Buffer raw;
  for (const ir::Input& input : program.inputs) {
    if (!raw && !input.constant) raw = input.buffer;
  }
  ir::Program fused{program.name, program.inputs, {}, program.outputs};
  std::vector<ir::Axis> axes;
  for (std::size_t d = 0; d < raw->shape.size(); ++d) {
    axes.push_back({"d" + std::to_string(d), raw->shape[d]});
  }
  const ir::Expr value = ir::max(ir::load(raw, ops::index_of(axes)), ir::zero_of(raw->type));
  const ir::Buffer changed = ir::add_compute(fused, "prologue.0", axes, value);
  for (ir::Stage stage : program.stages) {
    for (ir::Expr& v : stage.values) {
      v = ir::replace_loads(v, raw,
                            [&](const std::vector<ir::Expr>& at) { return ir::load(changed, at); });
    }
    fused.stages.push_back(std::move(stage));
  }
  return fused;
}

}  // namespace attune::templates
