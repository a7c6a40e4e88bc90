#include "compiler/lower/skips.h"

#include <algorithm>

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/simplify/simplify.h"
#include "compiler/lower/conditions.h"
#include "compiler/schedule/extents.h"

namespace attune::lower {
namespace {

using ir::Expr;
using ir::Linear;
using schedule::StageBounds;
using schedule::StageState;
using schedule::State;

bool same(const Linear& a, const Linear& b) {
  return a.terms == b.terms && a.constant == b.constant;
}

bool contains(const std::vector<Linear>& forms, const Linear& wanted) {
  return std::any_of(forms.begin(), forms.end(),
                     [&](const Linear& form) { return same(form, wanted); });
}

// Conditions of selects around a value; where one of them fails, the value is `otherwise`.
std::vector<Expr> conditions_of(Expr value, const Expr& otherwise) {
  std::vector<Expr> found;
  while (const auto* select = ir::as<ir::Select>(value)) {
    if (!ir::equal(select->if_false, otherwise)) break;
    for (Expr& part : conjuncts(select->condition)) found.push_back(std::move(part));
    value = select->if_true;
  }
  return found;
}

const ir::Axis& axis_at(const ir::Stage& stage, std::size_t axis) {
  const std::size_t own = stage.axes.size();
  return axis < own ? stage.axes[axis] : stage.reduce_axes[axis - own];
}

class SkipFinder {
 public:
  SkipFinder(const State& state, const std::vector<StageBounds>& bounds)
      : state_(state), bounds_(bounds), skips_(state.stages.size()) {
    for (int i = static_cast<int>(state.stages.size()) - 1; i >= 0; --i) {
      const StageState& stage = *state.stages[i];
      if (!schedule::find_note(stage.notes, "skip") || state.is_output(i)) continue;
      if (stage.stage.outputs.size() != 1 || stage.tensorized >= 0) continue;
      if (stage.stage.reduction == ir::Reduction::None) {
        find_unread(i);
      } else {
        find_neutral(i);
      }
    }
  }

  std::vector<std::vector<Skip>> take() { return std::move(skips_); }

 private:
  // Terms that are neutral because of what they read.
  void find_neutral(int index) {
    const ir::Stage& stage = state_.stages[index]->stage;
    const Expr neutral = ir::identity_of(stage.reduction, stage.values[0].type());
    Expr term = stage.values[0];
    while (const auto* select = ir::as<ir::Select>(term)) {
      if (!ir::equal(select->if_false, neutral)) break;
      term = select->if_true;
    }
    const std::vector<Linear> by_themselves = where_not_neutral(term, stage.reduction);
    std::vector<Expr> kept = conditions_of(stage.values[0], neutral);
    for (const Expr& condition : conditions_of(stage.values[0], neutral)) {
      const auto form = at_least_zero(condition);
      if (!form || !contains(by_themselves, *form)) continue;
      std::vector<Expr> others = kept;
      std::erase_if(others, [&](const Expr& other) { return ir::equal(other, condition); });
      if (!reads_inside(term, stage, others)) continue;
      std::vector<std::size_t> reduced;
      for (std::size_t r = 0; r < stage.reduce_axes.size(); ++r) {
        if (form->coefficient(stage.reduce_axes[r].name) != 0) {
          reduced.push_back(stage.axes.size() + r);
        }
      }
      if (reduced.size() == 1 && add(index, *form, reduced[0], 0)) kept = std::move(others);
    }
  }

  // Whether a term may be computed wherever the conditions hold: it reads nothing beyond the end of
  // what it reads.
  static bool reads_inside(const Expr& term, const ir::Stage& stage,
                           const std::vector<Expr>& conditions) {
    ir::Ranges ranges;
    for (const auto* axes : {&stage.axes, &stage.reduce_axes}) {
      for (const ir::Axis& axis : *axes) {
        ranges = ranges.with(axis.name, ir::Interval::extent(axis.extent));
      }
    }
    for (const Expr& condition : conditions) ranges = ranges.assume(condition);
    bool inside = true;
    ir::visit(term, [&](const Expr& e) {
      const auto* load = ir::as<ir::Load>(e);
      for (std::size_t d = 0; load && d < load->index.size(); ++d) {
        const Expr extent(load->buffer->shape[d]);
        inside = inside && ir::prove(load->index[d] >= Expr(0), ranges) &&
                 ir::prove(load->index[d] < extent, ranges);
      }
    });
    return inside;
  }

  // Conditions outside of which a term is neutral, whoever asks: those of a stage that it reads, as
  // a factor where terms are summed.
  std::vector<Linear> where_not_neutral(const Expr& term, ir::Reduction reduction) const {
    if (const auto* conversion = ir::as<ir::Cast>(term)) {
      return where_not_neutral(conversion->value, reduction);
    }
    if (const auto* product = ir::as<ir::Binary>(term);
        product && product->op == ir::BinOp::Mul && reduction == ir::Reduction::Sum) {
      auto forms = where_not_neutral(product->lhs, reduction);
      for (Linear& form : where_not_neutral(product->rhs, reduction)) {
        forms.push_back(std::move(form));
      }
      return forms;
    }
    const auto* load = ir::as<ir::Load>(term);
    const int producer = load ? state_.producer_of(load->buffer) : -1;
    if (producer < 0) return {};
    const ir::Stage& read = state_.stages[producer]->stage;
    if (read.reduction != ir::Reduction::None) return {};
    const Expr neutral = ir::identity_of(reduction, read.values[0].type());
    std::vector<Linear> forms;
    for (const Expr& condition : conditions_of(read.values[0], neutral)) {
      if (const auto form = read_at(condition, read, *load)) forms.push_back(*form);
    }
    return forms;
  }

  // A condition on the axes of a stage where one of its elements is read.
  static std::optional<Linear> read_at(const Expr& condition, const ir::Stage& stage,
                                       const ir::Load& load) {
    ir::Bindings bindings;
    for (std::size_t d = 0; d < stage.axes.size(); ++d) {
      bindings[stage.axes[d].name] = load.index[d];
    }
    return at_least_zero(ir::simplify(ir::substitute(condition, bindings)));
  }

  // Elements that no reader asks for, by conditions of the stage's own.
  void find_unread(int index) {
    const ir::Stage& stage = state_.stages[index]->stage;
    const auto* select = ir::as<ir::Select>(stage.values[0]);
    if (!select) return;
    for (const Expr& condition : conditions_of(stage.values[0], select->if_false)) {
      const auto form = at_least_zero(condition);
      if (!form) continue;
      std::optional<std::size_t> axis;
      std::int64_t slack = 0;
      bool unread = true;
      for (const int reader : state_.consumers_of(index)) {
        unread = unread && leaves_unread(reader, stage, condition, axis, slack);
      }
      if (unread && axis) add(index, *form, *axis, slack);
    }
  }

  // Whether a reader takes no more of the stage along one axis than the condition and some slack.
  bool leaves_unread(int reader, const ir::Stage& stage, const Expr& condition,
                     std::optional<std::size_t>& axis, std::int64_t& slack) const {
    const ir::Stage& reading = state_.stages[reader]->stage;
    const auto& skips = skips_[static_cast<std::size_t>(reader)];
    bool all = !skips.empty();
    ir::visit(reading.values[0], [&](const Expr& e) {
      const auto* load = ir::as<ir::Load>(e);
      if (!load || load->buffer != stage.outputs[0]) return;
      const auto form = read_at(condition, stage, *load);
      const auto skip = std::find_if(skips.begin(), skips.end(), [&](const Skip& each) {
        return form && same(each.inside, *form);
      });
      if (skip == skips.end()) {
        all = false;
        return;
      }
      const std::string& cut = axis_at(reading, skip->axis).name;
      for (std::size_t d = 0; d < load->index.size(); ++d) {
        if (!ir::uses_var(load->index[d], cut)) continue;
        const auto place = ir::linear_of(load->index[d]);
        all = all && place && place->coefficient(cut) == 1 && axis.value_or(d) == d;
        axis = d;
        slack = std::max(slack, skip->slack + skip->step - 1);
      }
    });
    return all;
  }

  // Where the outermost loop over the axis is one that can end early.
  bool add(int index, const Linear& form, std::size_t axis, std::int64_t slack) {
    const StageState& stage = *state_.stages[index];
    const std::int64_t coefficient = form.coefficient(axis_at(stage.stage, axis).name);
    if (coefficient != 1 && coefficient != -1) return false;
    const auto& extents = bounds_[static_cast<std::size_t>(index)].iters;
    for (const int loop : stage.loops) {
      const std::int64_t step = schedule::stride_of(stage, extents, loop, static_cast<int>(axis));
      if (step == 0) continue;
      const bool outermost = step * extents[static_cast<std::size_t>(loop)] >=
                             bounds_[static_cast<std::size_t>(index)].axes[axis];
      if (!outermost || stage.iters[loop].kind != ir::LoopKind::Serial) return false;
      skips_[static_cast<std::size_t>(index)].push_back({form, axis, loop, step, slack});
      return true;
    }
    return false;
  }

  const State& state_;
  const std::vector<StageBounds>& bounds_;
  std::vector<std::vector<Skip>> skips_;
};

}  // namespace

std::vector<std::vector<Skip>> find_skips(const State& state,
                                          const std::vector<StageBounds>& bounds) {
  return SkipFinder(state, bounds).take();
}

Expr without_skipped(const Expr& value, const ir::Stage& stage, const std::vector<Skip>& skips) {
  if (stage.reduction == ir::Reduction::None || skips.empty()) return value;
  const auto* select = ir::as<ir::Select>(value);
  if (!select || !ir::equal(select->if_false, ir::identity_of(stage.reduction, value.type()))) {
    return value;
  }
  std::vector<Expr> kept;
  for (const Expr& part : conjuncts(select->condition)) {
    const auto form = at_least_zero(part);
    const bool skipped = std::any_of(skips.begin(), skips.end(), [&](const Skip& skip) {
      return form && same(skip.inside, *form);
    });
    if (!skipped) kept.push_back(part);
  }
  const Expr inner = without_skipped(select->if_true, stage, skips);
  return kept.empty() ? inner : ir::select(conjunction(kept), inner, select->if_false);
}

namespace {

// What is left of a loop by one skip, where the region of the stage begins at `bounds.min`.
LoopPart part_of(const Skip& skip, const ir::Stage& stage, const StageBounds& bounds) {
  // What the other axes add at most, over the whole region.
  Expr most(skip.inside.constant), begin(0);
  for (std::size_t d = 0; d < stage.axes.size() + stage.reduce_axes.size(); ++d) {
    const Expr first = d < stage.axes.size() ? bounds.min[d] : Expr(0);
    const std::int64_t coefficient = skip.inside.coefficient(axis_at(stage, d).name);
    if (d == skip.axis) {
      begin = first;
    } else if (coefficient != 0) {
      const std::int64_t moves = coefficient > 0 ? bounds.axes[d] - 1 : 0;
      most = most + Expr(coefficient) * (first + Expr(moves));
    }
  }
  const Expr all(bounds.iters[static_cast<std::size_t>(skip.loop)]);
  if (skip.inside.coefficient(axis_at(stage, skip.axis).name) < 0) {  // axis <= most
    const Expr last = (most - begin + Expr(skip.slack)) / Expr(skip.step);
    return {Expr(0), ir::min(all, last + Expr(1))};
  }  // axis >= -most
  const Expr first = (Expr(0) - most - begin - Expr(skip.slack)) / Expr(skip.step);
  return {ir::max(Expr(0), first), all};
}

}  // namespace

LoopPart part_of_loop(int loop, const std::vector<Skip>& skips, const ir::Stage& stage,
                      const StageBounds& bounds) {
  LoopPart left{Expr(0), Expr(bounds.iters[static_cast<std::size_t>(loop)])};
  bool cut = false;
  for (const Skip& skip : skips) {
    if (skip.loop != loop) continue;
    const LoopPart part = part_of(skip, stage, bounds);
    left = {ir::max(left.begin, part.begin), ir::min(left.end, part.end)};
    cut = true;
  }
  if (cut) left.end = ir::max(left.begin, left.end);
  return left;
}

}  // namespace attune::lower
