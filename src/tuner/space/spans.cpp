#include "tuner/space/spans.h"

#include <algorithm>
#include <optional>

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/simplify/linear.h"

namespace attune::space {
namespace {

using schedule::FuseRelation;
using schedule::SplitRelation;
using schedule::StageState;

constexpr std::size_t kMaxIters = 64;

// Carries the spans of the present loops back to the axes they came from.
void fold_back(const StageState& stage, const schedule::Extents& extents,
               std::array<std::int64_t, kMaxIters>& spans) {
  for (auto r = stage.relations.rbegin(); r != stage.relations.rend(); ++r) {
    if (const auto* split = std::get_if<SplitRelation>(&*r)) {
      std::int64_t span = 1;
      for (const int child : split->children) span *= spans[static_cast<std::size_t>(child)];
      const auto parent = static_cast<std::size_t>(split->parent);
      spans[parent] = std::min(span, extents[parent]);
    } else {
      const auto& fuse = std::get<FuseRelation>(*r);
      std::int64_t left = spans[static_cast<std::size_t>(fuse.child)];
      for (auto parent = fuse.parents.rbegin(); parent != fuse.parents.rend(); ++parent) {
        const auto p = static_cast<std::size_t>(*parent);
        spans[p] = std::min(left, extents[p]);
        left = (left + extents[p] - 1) / extents[p];
      }
    }
  }
}

Spans axes_only(const StageState& stage, const std::array<std::int64_t, kMaxIters>& spans) {
  Spans result;
  result.size = stage.stage.axes.size() + stage.stage.reduce_axes.size();
  CHECK(result.size <= Spans::kMax, "a stage has too many axes");
  std::copy_n(spans.begin(), result.size, result.values.begin());
  result.stage = &stage.stage;
  return result;
}

const std::string& axis_name(const ir::Stage& stage, std::size_t axis) {
  const std::size_t axes = stage.axes.size();
  return axis < axes ? stage.axes[axis].name : stage.reduce_axes[axis - axes].name;
}

// By how much an index moves per step of the variable, of which `span` are taken from an aligned
// place on; nothing when that is irregular.
std::optional<std::int64_t> step_of(const ir::Expr& index, const std::string& variable,
                                    std::int64_t span) {
  if (!ir::uses_var(index, variable)) return 0;
  if (ir::as<ir::Var>(index)) return 1;
  const auto* b = ir::as<ir::Binary>(index);
  if (!b) return std::nullopt;
  const auto left = step_of(b->lhs, variable, span), right = step_of(b->rhs, variable, span);
  if (!left || !right) return std::nullopt;
  const std::int64_t* constant = ir::as_int(b->rhs);
  // The span does not cross a multiple of the constant.
  const bool within = constant && *constant > 0 && *left > 0 && *constant % (*left * span) == 0;
  switch (b->op) {
    case ir::BinOp::Add:
      return *left + *right;
    case ir::BinOp::Sub:
      return *left - *right;
    case ir::BinOp::Mul:
      return constant ? std::optional(*left * *constant) : std::nullopt;
    case ir::BinOp::Div:
      return within ? std::optional<std::int64_t>(0) : std::nullopt;
    case ir::BinOp::Mod:
      return within ? left : std::nullopt;
    default:
      return std::nullopt;
  }
}

// The same of one dimension.
std::optional<std::int64_t> step_of(const ir::Stage& reader, const schedule::AccessDim& dim,
                                    std::size_t axis, std::int64_t span) {
  if (!dim.linear) return step_of(dim.index, axis_name(reader, axis), span);
  std::int64_t step = 0;
  for (const auto& [term, coefficient] : dim.terms) {
    if (term == static_cast<int>(axis)) step += coefficient;
  }
  return step;
}

// The value of an index where the variable has this value and all others are zero; nothing where it
// is made by other means than arithmetic.
std::optional<std::int64_t> value_of(const ir::Expr& e, const std::string& variable,
                                     std::int64_t value) {
  if (const std::int64_t* constant = ir::as_int(e)) return *constant;
  if (const auto* v = ir::as<ir::Var>(e)) return v->name == variable ? value : 0;
  const auto* b = ir::as<ir::Binary>(e);
  if (!b) return std::nullopt;
  const auto left = value_of(b->lhs, variable, value);
  const auto right = value_of(b->rhs, variable, value);
  if (!left || !right) return std::nullopt;
  const bool divides = *left >= 0 && *right > 0;
  switch (b->op) {
    case ir::BinOp::Add:
      return *left + *right;
    case ir::BinOp::Sub:
      return *left - *right;
    case ir::BinOp::Mul:
      return *left * *right;
    case ir::BinOp::Div:
      return divides ? std::optional(*left / *right) : std::nullopt;
    case ir::BinOp::Mod:
      return divides ? std::optional(*left % *right) : std::nullopt;
    default:
      return std::nullopt;
  }
}

// Where in memory a read is.
std::optional<std::int64_t> place_of(const ir::Stage& reader, const schedule::Access& access,
                                     std::size_t axis, std::int64_t value) {
  std::int64_t place = 0;
  for (std::size_t d = 0; d < access.dims.size(); ++d) {
    const schedule::AccessDim& dim = access.dims[d];
    std::int64_t index = dim.constant;
    if (dim.linear) {
      for (const auto& [term, coefficient] : dim.terms) {
        if (term == static_cast<int>(axis)) index += coefficient * value;
      }
    } else {
      const auto found = value_of(dim.index, axis_name(reader, axis), value);
      if (!found) return std::nullopt;
      index = *found;
    }
    place = place * access.buffer->shape[d] + index;
  }
  return place;
}

// Whether a division or remainder of this treats all runs of `span` values of the variable alike,
// wherever the others are and a run begins: a run is made of whole divisors, and so is what else
// moves it; or it lies within one.
bool divides_alike(const ir::Linear& divided, std::int64_t divisor, const std::string& variable,
                   std::int64_t span) {
  const std::int64_t run = std::abs(divided.coefficient(variable)) * span;
  const bool within = divisor % run == 0;
  if (!within && run % divisor != 0) return false;
  const std::int64_t whole = within ? run : divisor;
  return (!within || divided.constant % run == 0) &&
         std::all_of(divided.terms.begin(), divided.terms.end(), [&](const auto& term) {
           return term.first == variable || term.second % whole == 0;
         });
}

bool moves_alike(const ir::Expr& index, const std::string& variable, std::int64_t span) {
  bool alike = true;
  ir::visit(index, [&](const ir::Expr& part) {
    const auto* b = ir::as<ir::Binary>(part);
    if (!b || (b->op != ir::BinOp::Div && b->op != ir::BinOp::Mod)) return;
    if (!ir::uses_var(part, variable)) return;
    const std::int64_t* divisor = ir::as_int(b->rhs);
    const auto divided = ir::linear_of(b->lhs);
    alike &= divisor && *divisor > 0 && divided && divided->coefficient(variable) != 0 &&
             divides_alike(*divided, *divisor, variable, span);
  });
  return alike;
}

// Several indices may move irregularly and the place in memory regularly all the same: x / 4 and x
// % 4 of rows of four. Seen by looking at all places of the first run.
std::int64_t stride_of_places(const ir::Stage& reader, const schedule::Access& access,
                              std::size_t axis, std::int64_t span) {
  for (const schedule::AccessDim& dim : access.dims) {
    if (!dim.linear && !moves_alike(dim.index, axis_name(reader, axis), span)) return -1;
  }
  std::optional<std::int64_t> stride;
  auto last = place_of(reader, access, axis, 0);
  for (std::int64_t value = 1; value < span; ++value) {
    const auto place = place_of(reader, access, axis, value);
    if (!last || !place || (stride && *place - *last != *stride)) return -1;
    stride = *place - *last;
    last = place;
  }
  return stride.value_or(-1);
}

std::int64_t row_major_stride(const ir::Stage& reader, const schedule::Access& access,
                              std::size_t axis, std::int64_t span) {
  std::int64_t stride = 0, size = 1;
  for (std::size_t d = access.dims.size(); d-- > 0;) {
    const auto step = step_of(reader, access.dims[d], axis, span);
    if (!step) return stride_of_places(reader, access, axis, span);
    stride += *step * size;
    size *= access.buffer->shape[d];
  }
  return stride;
}

// How far an index moves, i.e. its number of values less one; nothing when there is no telling.
std::optional<std::int64_t> moves_of(const ir::Expr& e, const Spans& spans) {
  if (ir::as_int(e)) return 0;
  if (const auto* v = ir::as<ir::Var>(e)) {
    for (std::size_t i = 0; spans.stage && i < spans.size; ++i) {
      if (axis_name(*spans.stage, i) == v->name) return spans[i] - 1;
    }
    return std::nullopt;
  }
  const auto* b = ir::as<ir::Binary>(e);
  if (!b) return std::nullopt;
  const auto left = moves_of(b->lhs, spans), right = moves_of(b->rhs, spans);
  if (!left || !right) return std::nullopt;
  const std::int64_t* constant = ir::as_int(b->rhs);
  switch (b->op) {
    case ir::BinOp::Add:
    case ir::BinOp::Sub:
      return *left + *right;
    case ir::BinOp::Min:
    case ir::BinOp::Max:
      return std::max(*left, *right);
    case ir::BinOp::Mul:
      if (constant) return *left * std::abs(*constant);
      break;
    case ir::BinOp::Div:
      if (constant && *constant > 0) return *left / *constant;
      break;
    case ir::BinOp::Mod:
      if (constant && *constant > 0) return std::min(*left, *constant - 1);
      break;
    default:
      break;
  }
  return *left == 0 && *right == 0 ? std::optional<std::int64_t>(0) : std::nullopt;
}

}  // namespace

Spans spans_within(const StageState& stage, const schedule::Extents& iter_extents, int first) {
  CHECK(stage.iters.size() <= kMaxIters, "a stage has too many loops");
  std::array<std::int64_t, kMaxIters> spans;
  std::fill_n(spans.begin(), stage.iters.size(), 1);
  for (std::size_t i = static_cast<std::size_t>(first); i < stage.loops.size(); ++i) {
    const auto loop = static_cast<std::size_t>(stage.loops[i]);
    spans[loop] = iter_extents[loop];
  }
  fold_back(stage, iter_extents, spans);
  return axes_only(stage, spans);
}

std::int64_t general_span(const ir::Expr& index, const Spans& spans, std::int64_t whole) {
  const auto moves = moves_of(index, spans);
  return moves ? std::min(*moves + 1, whole) : whole;
}

std::int64_t memory_stride(const ir::Stage& reader, const schedule::Access& access,
                           const std::vector<schedule::LayoutTerm>& layout, std::size_t axis,
                           std::int64_t span) {
  if (layout.empty()) return row_major_stride(reader, access, axis, span);
  std::int64_t stride = 0, size = 1;
  for (std::size_t t = layout.size(); t-- > 0;) {
    const schedule::LayoutTerm& term = layout[t];
    const auto d = static_cast<std::size_t>(term.axis);
    const auto step = step_of(reader, access.dims[d], axis, span);
    if (!step) return -1;
    if (*step != 0 && term.divide == 1) {
      if (term.modulo != 0 && *step * span > term.modulo) return -1;
      stride += *step * size;
    }
    const std::int64_t whole = (access.buffer->shape[d] + term.divide - 1) / term.divide;
    size *= term.modulo != 0 ? term.modulo : whole;
  }
  return stride;
}

}  // namespace attune::space
