#include "compiler/ir/nodes/tensor_expr.h"

#include <limits>

#include "base/check.h"

namespace attune::ir {
namespace {

std::vector<std::int64_t> shape_of(const std::vector<Axis>& axes) {
  std::vector<std::int64_t> shape;
  for (const Axis& axis : axes) shape.push_back(axis.extent);
  return shape;
}

std::int64_t least_int(DType type) {
  if (type.kind == TypeKind::UInt || type.is_bool()) return 0;
  return type.bits == 64 ? std::numeric_limits<std::int64_t>::min()
                         : -(std::int64_t{1} << (type.bits - 1));
}

std::int64_t greatest_int(DType type) {
  if (type.is_bool()) return 1;
  if (type == kU64) return -1;  // all bits are set
  if (type.kind == TypeKind::UInt) return (std::int64_t{1} << type.bits) - 1;
  return type.bits == 64 ? std::numeric_limits<std::int64_t>::max()
                         : (std::int64_t{1} << (type.bits - 1)) - 1;
}

}  // namespace

const Stage* Program::find_stage(std::string_view wanted) const {
  for (const Stage& stage : stages) {
    if (stage.name == wanted) return &stage;
  }
  return nullptr;
}

const Stage* Program::producer(const Buffer& buffer) const {
  for (const Stage& stage : stages) {
    for (const Buffer& output : stage.outputs) {
      if (output == buffer) return &stage;
    }
  }
  return nullptr;
}

Buffer add_input(Program& program, std::string name, DType type, std::vector<std::int64_t> shape,
                 bool constant) {
  program.inputs.push_back({make_buffer(std::move(name), type, std::move(shape)), constant});
  return program.inputs.back().buffer;
}

Buffer add_compute(Program& program, std::string name, std::vector<Axis> axes, Expr value) {
  Buffer buffer = make_buffer(name, value.type(), shape_of(axes));
  program.stages.push_back(
      {std::move(name), std::move(axes), {}, Reduction::None, {std::move(value)}, {buffer}});
  return buffer;
}

Buffer add_reduce(Program& program, std::string name, std::vector<Axis> axes,
                  std::vector<Axis> reduce_axes, Reduction reduction, Expr value) {
  CHECK(reduction != Reduction::None && reduction < Reduction::ArgMax, "a single-valued reduction");
  Buffer buffer = make_buffer(name, value.type(), shape_of(axes));
  program.stages.push_back({std::move(name),
                            std::move(axes),
                            std::move(reduce_axes),
                            reduction,
                            {std::move(value)},
                            {buffer}});
  return buffer;
}

std::vector<Buffer> add_arg_reduce(Program& program, std::string name, std::vector<Axis> axes,
                                   std::vector<Axis> reduce_axes, Reduction reduction, Expr value,
                                   Expr index) {
  CHECK(reduction >= Reduction::ArgMax, "a pair reduction");
  std::vector<Buffer> buffers{make_buffer(name, value.type(), shape_of(axes)),
                              make_buffer(name + ".index", index.type(), shape_of(axes))};
  program.stages.push_back({std::move(name),
                            std::move(axes),
                            std::move(reduce_axes),
                            reduction,
                            {std::move(value), std::move(index)},
                            buffers});
  return buffers;
}

Expr axis_var(const Axis& axis) { return var(axis.name); }

Expr identity_of(Reduction reduction, DType type) {
  const double infinity = std::numeric_limits<double>::infinity();
  switch (reduction) {
    case Reduction::None:
      break;
    case Reduction::Sum:
      return zero_of(type);
    case Reduction::Prod:
      return type.is_float() ? float_imm(1.0, type) : int_imm(1, type);
    case Reduction::Max:
    case Reduction::ArgMax:
      return type.is_float() ? float_imm(-infinity, type) : int_imm(least_int(type), type);
    case Reduction::Min:
    case Reduction::ArgMin:
      return type.is_float() ? float_imm(infinity, type) : int_imm(greatest_int(type), type);
  }
  CHECK(false, "a stage without reduction has no neutral element");
}

Expr combine(Reduction reduction, Expr accumulator, Expr value) {
  switch (reduction) {
    case Reduction::Sum:
      return std::move(accumulator) + std::move(value);
    case Reduction::Prod:
      return std::move(accumulator) * std::move(value);
    case Reduction::Max:
      return max(std::move(accumulator), std::move(value));
    case Reduction::Min:
      return min(std::move(accumulator), std::move(value));
    default:
      break;
  }
  CHECK(false, "combine() is for single-valued reductions");
}

}  // namespace attune::ir
