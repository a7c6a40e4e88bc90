#include "compiler/schedule/tensor_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/text/print.h"
#include "compiler/schedule/loop_values.h"

namespace attune::schedule {
namespace {

using ir::Expr;
using Reads = std::map<std::string, Expr>;  // by the name of the input

bool commutes(ir::BinOp op) {
  return op == ir::BinOp::Add || op == ir::BinOp::Mul || op == ir::BinOp::Min ||
         op == ir::BinOp::Max;
}

// Whether a value has the form of the meaning, with a read of its own for each input: as it is, or
// rounded as the intrinsic would do it.
bool unify(const Expr& meaning, const Expr& value, const ir::TensorIntrinsic& intrinsic,
           Reads& reads) {
  if (meaning.type() != value.type()) return false;
  if (const auto* input = ir::as<ir::Load>(meaning)) {
    const Expr read = ir::as<ir::Load>(value) ? value : intrinsic.before_rounding(value);
    if (!read) return false;
    const auto [at, added] = reads.emplace(input->buffer->name, read);
    return added || ir::equal(at->second, read);
  }
  if (const auto* wanted = ir::as<ir::Binary>(meaning)) {
    const auto* found = ir::as<ir::Binary>(value);
    if (!found || found->op != wanted->op) return false;
    Reads tried = reads;
    if (unify(wanted->lhs, found->lhs, intrinsic, tried) &&
        unify(wanted->rhs, found->rhs, intrinsic, tried)) {
      reads = std::move(tried);
      return true;
    }
    return commutes(wanted->op) && unify(wanted->lhs, found->rhs, intrinsic, reads) &&
           unify(wanted->rhs, found->lhs, intrinsic, reads);
  }
  if (const auto* wanted = ir::as<ir::Cast>(meaning)) {
    const auto* found = ir::as<ir::Cast>(value);
    return found && unify(wanted->value, found->value, intrinsic, reads);
  }
  return ir::equal(meaning, value);
}

// The forms that reads can take: operands of a product are also tried the other way round.
std::vector<Reads> all_reads(const Expr& meaning, const Expr& value,
                             const ir::TensorIntrinsic& intrinsic) {
  std::vector<Reads> found;
  Reads reads;
  if (unify(meaning, value, intrinsic, reads)) found.push_back(reads);
  const auto* product = ir::as<ir::Binary>(value);
  if (product && commutes(product->op)) {
    Reads swapped;
    const Expr turned = ir::binary(product->op, product->rhs, product->lhs);
    if (unify(meaning, turned, intrinsic, swapped)) {
      found.push_back(swapped);
    }
  }
  return found;
}

std::string variable_of(int iter) { return fmt::format("loop {}", iter); }

// The stage's axes as sums of its loops.
ir::Bindings axis_values(const StageState& stage, const Extents& iter_extents) {
  std::vector<Expr> values(stage.iters.size());
  for (int loop : stage.loops) values[loop] = ir::var(variable_of(loop));
  fill_values(stage, iter_extents, values);
  ir::Bindings bindings;
  const std::size_t axes = stage.stage.axes.size();
  for (std::size_t i = 0; i < axes; ++i) bindings[stage.stage.axes[i].name] = values[i];
  for (std::size_t i = 0; i < stage.stage.reduce_axes.size(); ++i) {
    bindings[stage.stage.reduce_axes[i].name] = values[axes + i];
  }
  return bindings;
}

bool moves_with(const std::vector<Expr>& index, const std::string& variable) {
  return std::any_of(index.begin(), index.end(),
                     [&](const Expr& e) { return ir::uses_var(e, variable); });
}

class Matcher {
 public:
  Matcher(const StageState& stage, const Extents& extents, int position,
          const ir::TensorIntrinsic& intrinsic)
      : stage_(stage),
        extents_(extents),
        intrinsic_(intrinsic),
        program_(intrinsic.program()),
        meaning_(program_.stages[0]),
        bindings_(axis_values(stage, extents)) {
    for (std::size_t i = static_cast<std::size_t>(position); i < stage.loops.size(); ++i) {
      if (extents[stage.loops[i]] != 1) inner_.push_back(stage.loops[i]);
    }
  }

  Result<std::vector<TensorMatch>> match() {
    if (stage_.stage.reduction != meaning_.reduction) return wrong("another reduction");
    ATTUNE_RETURN_IF_ERROR(check_kinds());
    const auto readings = all_reads(meaning_.values[0], stage_.stage.values[0], intrinsic_);
    if (readings.empty()) {
      return wrong(fmt::format("'{}' does not have the form '{}'",
                               ir::to_string(stage_.stage.values[0]),
                               ir::to_string(meaning_.values[0])));
    }
    std::vector<TensorMatch> matches;
    for (const Reads& reads : readings) {
      std::vector<int> loops;
      if (assign(reads, loops)) matches.push_back(found(reads, loops));
    }
    if (!matches.empty()) return matches;
    return wrong(
        fmt::format("its loops are {}, those of the intrinsic {}", own_loops(), wanted_loops()));
  }

 private:
  std::vector<ir::Axis> wanted_axes() const {
    std::vector<ir::Axis> axes = meaning_.axes;
    axes.insert(axes.end(), meaning_.reduce_axes.begin(), meaning_.reduce_axes.end());
    return axes;
  }
  Error wrong(const std::string& why) const {
    return invalid(fmt::format("stage '{}' does not fit intrinsic '{}': {}", stage_.stage.name,
                               intrinsic_.name, why),
                   "split and reorder its loops so that the inner ones are the intrinsic's tile");
  }
  Status check_kinds() const {
    for (int loop : inner_) {
      if (stage_.iters[loop].kind == ir::LoopKind::Serial) continue;
      return wrong(fmt::format("loop '{}' is annotated", stage_.iters[loop].name));
    }
    return {};
  }
  std::string own_loops() const {
    std::string text;
    for (int loop : inner_) {
      text += fmt::format("{}{}{} {}", text.empty() ? "" : ", ",
                          stage_.iters[loop].reduce ? "reduction " : "", stage_.iters[loop].name,
                          extents_[loop]);
    }
    return text.empty() ? "none" : text;
  }
  std::string wanted_loops() const {
    std::string text;
    for (std::size_t i = 0; i < wanted_axes().size(); ++i) {
      text += fmt::format("{}{}{} {}", text.empty() ? "" : ", ",
                          i < meaning_.axes.size() ? "" : "reduction ", wanted_axes()[i].name,
                          wanted_axes()[i].extent);
    }
    return text;
  }

  // The stage's store and reads move with a loop just where the meaning's do with its axis.
  bool fits(const Reads& reads, int loop, const ir::Axis& axis, bool reduce) const {
    if (stage_.iters[loop].reduce != reduce || extents_[loop] != axis.extent) return false;
    bool same = true;
    ir::visit(meaning_.values[0], [&](const Expr& e) {
      const auto* input = ir::as<ir::Load>(e);
      if (!input) return;
      const auto* read = ir::as<ir::Load>(reads.at(input->buffer->name));
      std::vector<Expr> index;
      for (const Expr& i : read->index) index.push_back(ir::substitute(i, bindings_));
      same &= moves_with(input->index, axis.name) == moves_with(index, variable_of(loop));
    });
    return same;
  }

  bool assign(const Reads& reads, std::vector<int>& loops) const {
    std::vector<int> left = inner_;
    const auto axes = wanted_axes();
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const auto at = std::find_if(left.begin(), left.end(), [&](int loop) {
        return fits(reads, loop, axes[i], i >= meaning_.axes.size());
      });
      if (at == left.end() && axes[i].extent != 1) return false;
      loops.push_back(at == left.end() ? -1 : *at);
      if (at != left.end()) left.erase(at);
    }
    return left.empty();
  }

  TensorMatch found(const Reads& reads, std::vector<int> loops) const {
    TensorMatch match{std::move(loops), {}};
    for (const ir::Input& input : program_.inputs)
      match.reads.push_back(reads.at(input.buffer->name));
    return match;
  }

  const StageState& stage_;
  const Extents& extents_;
  const ir::TensorIntrinsic& intrinsic_;
  const ir::Program program_;
  const ir::Stage& meaning_;
  ir::Bindings bindings_;
  std::vector<int> inner_;  // loops of more than one iteration
};

}  // namespace

Result<std::vector<TensorMatch>> match_tensor(const StageState& stage, const Extents& iter_extents,
                                              int position, const ir::TensorIntrinsic& intrinsic) {
  return Matcher(stage, iter_extents, position, intrinsic).match();
}

}  // namespace attune::schedule
