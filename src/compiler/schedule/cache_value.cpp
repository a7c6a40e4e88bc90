// cache_value: a copy of a tensor, of what its consumer makes of single elements.
#include <fmt/format.h>

#include <optional>

#include "compiler/schedule/primitives.h"
#include "compiler/schedule/rewrite_stage.h"

namespace attune::schedule {
namespace {

using ir::Expr;

// Whether an expression is computed from one element of a buffer and constants alone.
bool of_one_element(const Expr& e, const ir::Buffer& buffer) {
  if (const auto* load = ir::as<ir::Load>(e)) return load->buffer == buffer;
  if (ir::as<ir::Var>(e)) return false;
  int elements = 0;
  bool others = false;
  ir::map_children(e, [&](const Expr& child) {
    if (of_one_element(child, buffer)) {
      ++elements;
    } else {
      ir::visit(child, [&](const Expr& part) {
        others |= ir::as<ir::Load>(part) != nullptr || ir::as<ir::Var>(part) != nullptr;
      });
    }
    return child;
  });
  return elements == 1 && !others;
}

const ir::Load* element_of(const Expr& e) {
  const ir::Load* found = nullptr;
  ir::visit(e, [&](const Expr& part) {
    if (!found) found = ir::as<ir::Load>(part);
  });
  return found;
}

class ValueCache {
 public:
  ValueCache(ir::Buffer from, std::vector<ir::Axis> axes)
      : from_(std::move(from)), axes_(std::move(axes)) {
    for (const ir::Axis& axis : axes_) index_.push_back(ir::axis_var(axis));
  }

  // What all elements become; nothing when they are not treated alike.
  std::optional<Expr> value() const { return same_ ? value_ : std::nullopt; }

  void look_at(const Expr& e) {
    if (!of_one_element(e, from_)) {
      ir::map_children(e, [&](const Expr& child) {
        look_at(child);
        return child;
      });
      return;
    }
    const Expr here = ir::replace_loads(
        e, from_, [&](const std::vector<Expr>&) { return ir::load(from_, index_); });
    same_ &= !value_ || ir::equal(*value_, here);
    value_ = here;
  }

  Expr redirected(const Expr& e, const ir::Buffer& to) const {
    if (of_one_element(e, from_)) return ir::load(to, element_of(e)->index);
    return ir::map_children(e, [&](const Expr& child) { return redirected(child, to); });
  }

 private:
  ir::Buffer from_;
  std::vector<ir::Axis> axes_;
  std::vector<Expr> index_;
  std::optional<Expr> value_;
  bool same_ = true;
};

}  // namespace

Status apply_step(State& state, const CacheValue& step) {
  ATTUNE_ASSIGN(const int consumer, require_stage(state, step.consumer));
  const std::string name = "cache." + step.tensor;
  if (state.find(name) >= 0) {
    return invalid(fmt::format("there is a stage '{}' already", name), "a tensor is cached once");
  }
  const StageState& reader = *state.stages[consumer];
  ir::Buffer buffer;
  for (const Access& access : reader.accesses) {
    if (access.buffer->name == step.tensor) buffer = access.buffer;
  }
  if (!buffer) {
    return invalid(fmt::format("stage '{}' does not read '{}'", step.consumer, step.tensor),
                   "name a stage that reads the tensor");
  }
  std::vector<ir::Axis> axes;
  const int producer = state.producer_of(buffer);
  for (std::size_t i = 0; i < buffer->shape.size(); ++i) {
    axes.push_back({fmt::format("i{}", i), buffer->shape[i]});
  }
  if (producer >= 0) axes = state.stages[producer]->stage.axes;
  ValueCache cache(buffer, axes);
  for (const Expr& value : reader.stage.values) cache.look_at(value);
  const auto value = cache.value();
  if (!value) {
    return invalid(fmt::format("stage '{}' makes different things of elements of '{}'",
                               step.consumer, step.tensor),
                   "use cache_read");
  }
  const ir::Buffer copy = ir::make_buffer(name, value->type(), buffer->shape);
  rewrite_values(state.edit(consumer), [&](const Expr& e) { return cache.redirected(e, copy); });
  ir::Stage stage{name, axes, {}, ir::Reduction::None, {*value}, {copy}};
  state.stages.insert(state.stages.begin() + consumer,
                      std::make_shared<StageState>(make_stage_state(std::move(stage))));
  return {};
}

}  // namespace attune::schedule
