#include "tuner/templates/dataflow.h"

#include <algorithm>

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/simplify/linear.h"
#include "compiler/ir/simplify/simplify.h"

namespace attune::templates {
namespace {

constexpr std::int64_t kFunctionLength = 20;

bool is_long(ir::MathFn fn) {
  switch (fn) {
    case ir::MathFn::Neg:
    case ir::MathFn::Not:
    case ir::MathFn::BitNot:
    case ir::MathFn::Abs:
    case ir::MathFn::Sign:
    case ir::MathFn::Floor:
    case ir::MathFn::Ceil:
    case ir::MathFn::Round:
    case ir::MathFn::Trunc:
    case ir::MathFn::Fma:
    case ir::MathFn::IsNan:
    case ir::MathFn::IsInf:
    case ir::MathFn::Bitcast:
      return false;
    default:
      return true;
  }
}

}  // namespace

std::map<ir::Buffer, int> reads_of(const ir::Stage& stage) {
  std::map<ir::Buffer, int> reads;
  for (const ir::Expr& value : stage.values) {
    ir::visit(value, [&](const ir::Expr& e) {
      if (const auto* load = ir::as<ir::Load>(e)) ++reads[load->buffer];
    });
  }
  return reads;
}

std::vector<const ir::Stage*> readers_of(const ir::Program& program, const ir::Stage& stage) {
  std::vector<const ir::Stage*> readers;
  for (const ir::Stage& other : program.stages) {
    const auto reads = reads_of(other);
    if (std::any_of(stage.outputs.begin(), stage.outputs.end(),
                    [&](const ir::Buffer& buffer) { return reads.count(buffer) > 0; })) {
      readers.push_back(&other);
    }
  }
  return readers;
}

std::set<ir::Buffer> constants_of(const ir::Program& program) {
  Reads reads;
  for (const ir::Stage& stage : program.stages) reads.push_back(reads_of(stage));
  return constants_of(program, reads);
}

std::set<ir::Buffer> constants_of(const ir::Program& program, const Reads& reads) {
  std::set<ir::Buffer> constants;
  for (const ir::Input& input : program.inputs) {
    if (input.constant) constants.insert(input.buffer);
  }
  for (std::size_t i = 0; i < program.stages.size(); ++i) {
    const ir::Stage& stage = program.stages[i];
    if (std::all_of(reads[i].begin(), reads[i].end(),
                    [&](const auto& read) { return constants.count(read.first) > 0; })) {
      constants.insert(stage.outputs.begin(), stage.outputs.end());
    }
  }
  return constants;
}

bool depends_on_constants(const ir::Program& program, const ir::Stage& stage) {
  return constants_of(program).count(stage.outputs[0]) > 0;
}

bool reads_at_own_index(const ir::Stage& stage, const ir::Buffer& buffer) {
  bool same = true;
  for (const ir::Expr& value : stage.values) {
    ir::visit(value, [&](const ir::Expr& e) {
      const auto* load = ir::as<ir::Load>(e);
      if (!load || load->buffer != buffer) return;
      for (std::size_t d = 0; d < load->index.size(); ++d) {
        const auto* v = ir::as<ir::Var>(load->index[d]);
        const bool fixed = stage.axes[d].extent == 1 && ir::is_const_int(load->index[d], 0);
        same &= fixed || (v && v->name == stage.axes[d].name);
      }
    });
  }
  return same;
}

bool is_output(const ir::Program& program, const ir::Stage& stage) {
  return std::any_of(program.outputs.begin(), program.outputs.end(),
                     [&](const ir::Buffer& buffer) { return program.producer(buffer) == &stage; });
}

std::int64_t length_of(const ir::Stage& stage) {
  std::int64_t count = 1;
  for (const ir::Expr& value : stage.values) {
    ir::visit(value, [&](const ir::Expr& e) {
      if (e.type() == ir::kIndex) return;
      const auto* math = ir::as<ir::Math>(e);
      count += math && is_long(math->fn) ? kFunctionLength : 1;
    });
  }
  return count;
}

bool only_moves(const ir::Stage& stage) {
  const ir::Expr* value = &stage.values[0];
  while (const auto* conversion = ir::as<ir::Cast>(*value)) value = &conversion->value;
  return ir::as<ir::Load>(*value) != nullptr;
}

std::optional<std::int64_t> stride_of(const ir::Load& load, const std::string& axis) {
  std::int64_t stride = 0, size = 1;
  for (std::size_t d = load.index.size(); d-- > 0;) {
    if (ir::uses_var(load.index[d], axis)) {
      const auto form = ir::linear_of(ir::simplify(load.index[d]));
      if (!form) return {};
      stride += form->coefficient(axis) * size;
    }
    size *= load.buffer->shape[d];
  }
  return stride;
}

Strides strides_of(const ir::Stage& stage, const std::string& axis) {
  Strides strides;
  for (const ir::Expr& value : stage.values) {
    ir::visit(value, [&](const ir::Expr& e) {
      const auto* load = ir::as<ir::Load>(e);
      if (!load) return;
      const auto stride = stride_of(*load, axis);
      ++(!stride        ? strides.scattered
         : *stride == 0 ? strides.broadcast
         : *stride == 1 ? strides.contiguous
                        : strides.scattered);
    });
  }
  return strides;
}

}  // namespace attune::templates
