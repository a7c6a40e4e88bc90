#include "compiler/lower/storage.h"

#include <fmt/format.h>

namespace attune::lower {
namespace {

// Small private buffers live on the stack of the worker, larger ones in the workspace.
constexpr std::int64_t kStackBytes = 16 << 10;

}  // namespace

namespace {

// By dimension of the layout.
std::vector<std::int64_t> layout_shape(const schedule::StageState& stage,
                                       const schedule::StageBounds& bounds) {
  std::vector<std::int64_t> shape;
  if (stage.layout.empty()) {
    shape.assign(bounds.axes.begin(),
                 bounds.axes.begin() + static_cast<std::ptrdiff_t>(stage.stage.axes.size()));
  }
  for (const auto& term : stage.layout) {
    shape.push_back(term.modulo > 0 ? term.modulo
                                    : (bounds.axes[term.axis] + term.divide - 1) / term.divide);
  }
  if (!shape.empty()) {
    const auto& [factor, offset] = stage.padding;
    shape.back() += ir::floor_mod(offset - shape.back(), factor);
  }
  return shape;
}

bool has_gaps(const schedule::StageState& stage, const std::vector<std::int64_t>& shape) {
  return stage.gap > 0 && shape.size() > 1;
}

}  // namespace

std::vector<std::int64_t> storage_shape(const schedule::StageState& stage,
                                        const schedule::StageBounds& bounds) {
  std::vector<std::int64_t> shape = layout_shape(stage, bounds);
  if (!has_gaps(stage, shape)) return shape;
  std::int64_t rest = 1;
  for (std::size_t d = 1; d < shape.size(); ++d) rest *= shape[d];
  return {shape[0], rest + stage.gap};
}

std::vector<ir::Expr> storage_place(const schedule::StageState& stage,
                                    const schedule::StageBounds& bounds,
                                    std::vector<ir::Expr> index, const ir::Ranges& ranges) {
  std::vector<ir::Expr> stored;
  for (const auto& term : stage.layout) {
    ir::Expr e = index[term.axis];
    if (term.divide > 1) e = e / ir::Expr(term.divide);
    if (term.modulo > 0) e = e % ir::Expr(term.modulo);
    stored.push_back(ir::simplify(e, ranges));
  }
  if (stage.layout.empty()) stored = std::move(index);
  const std::vector<std::int64_t> shape = layout_shape(stage, bounds);
  if (!has_gaps(stage, shape)) return stored;
  // Behind indices of the first dimension there are gaps, so all others are one.
  ir::Expr rest = stored[1];
  for (std::size_t d = 2; d < shape.size(); ++d) rest = rest * ir::Expr(shape[d]) + stored[d];
  return {stored[0], ir::simplify(rest, ranges)};
}

ir::Scope storage_scope(const schedule::StageState& stage, const std::vector<std::int64_t>& shape,
                        bool by_threads) {
  if (stage.scope) return *stage.scope;
  if (stage.at_root()) return ir::Scope::Global;
  if (by_threads) return ir::Scope::Stack;
  std::int64_t bytes = stage.stage.outputs[0]->type.element_bytes();
  for (std::int64_t extent : shape) bytes *= extent;
  return bytes <= kStackBytes ? ir::Scope::Stack : ir::Scope::Global;
}

Status check_storage(const schedule::State& state,
                     const std::vector<schedule::StageBounds>& bounds) {
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;
  for (std::size_t i = 0; i < state.stages.size(); ++i) {
    const schedule::StageState& stage = *state.stages[i];
    std::int64_t bytes = stage.stage.outputs[0]->type.element_bytes();
    for (std::int64_t extent : storage_shape(stage, bounds[i])) {
      if (extent > kMostBytes / bytes) {
        return invalid(fmt::format("the storage of stage '{}' is larger than {} bytes",
                                   stage.stage.name, kMostBytes),
                       "choose a layout with smaller blocks");
      }
      bytes *= extent;
    }
  }
  return {};
}

}  // namespace attune::lower
