#include "compiler/graph/tasks/attention_program.h"

#include <algorithm>

#include "base/check.h"
#include "compiler/graph/program.h"
#include "compiler/graph/tasks/splice.h"
#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ops/masked_rows.h"

namespace attune::graph {
namespace {

using ir::Buffer;
using ir::Expr;
using Index = std::vector<Expr>;

Expr number(ir::DType type, double value) { return ir::cast(type, ir::float_imm(value)); }

Index with(Index index, std::initializer_list<Expr> more) {
  index.insert(index.end(), more);
  return index;
}

// Which scores count, by their place: those of a band (the operator band_mask); all where there is
// no condition. Reductions say so too: who computes a block of queries can leave out the keys that
// none of them sees.
class Seen {
 public:
  explicit Seen(const ir::Program& scores) : axes_(scores.producer(scores.outputs[0])->axes) {
    Expr value = scores.producer(scores.outputs[0])->values[0];
    while (const auto* rounded = ir::as<ir::Cast>(value)) value = rounded->value;
    const auto* choice = ir::as<ir::Select>(value);
    if (!choice || !ir::equal(choice->if_false, lowest(value.type()))) return;
    bool by_place = true;
    ir::visit(choice->condition,
              [&](const Expr& e) { by_place &= ir::as<ir::Load>(e) == nullptr; });
    if (by_place) condition_ = choice->condition;
  }

  static Expr lowest(ir::DType type) { return ir::identity_of(ir::Reduction::Max, type); }

  // `value`, or `otherwise` where the score at the index does not count.
  Expr at(const Index& index, const Expr& value, const Expr& otherwise) const {
    if (!condition_) return value;
    ir::Bindings bindings;
    for (std::size_t d = 0; d < axes_.size(); ++d) bindings[axes_[d].name] = index[d];
    return ir::select(ir::substitute(condition_, bindings), value, otherwise);
  }

  // The same for a stage that reads the scores, or something of each of them, from `buffer`.
  void limit(ir::Program& program, const char* name, const Buffer& buffer) const {
    const auto stage = std::find_if(program.stages.begin(), program.stages.end(),
                                    [&](const ir::Stage& each) { return each.name == name; });
    CHECK(stage != program.stages.end(), "attention has the stages of a softmax and a product");
    Expr& value = stage->values[0];
    Index index;
    ir::visit(value, [&](const Expr& e) {
      const auto* load = ir::as<ir::Load>(e);
      if (load && load->buffer == buffer) index = load->index;
    });
    CHECK(index.size() == axes_.size(), "each stage reads the scores");
    const ir::DType type = value.type();
    const bool greatest = stage->reduction == ir::Reduction::Max;
    value = at(index, value, greatest ? lowest(type) : ir::zero_of(type));
  }

 private:
  std::vector<ir::Axis> axes_;
  Expr condition_;
};

// The softmax of rows of `scores`, without the division by their sums.
Result<ir::Program> weights_of(const Buffer& scores, bool masked) {
  const auto last = static_cast<std::int64_t>(scores->shape.size()) - 1;
  ops::Attributes attributes{{"axis", last}};
  if (masked) attributes["masked"] = std::int64_t{1};
  ATTUNE_ASSIGN(ir::Program program, program_of({.name = "softmax",
                                                 .attributes = std::move(attributes),
                                                 .inputs = {{scores->type, scores->shape, {}}},
                                                 .present = {true},
                                                 .constants = {nullptr}}));
  std::erase_if(program.stages, [](const ir::Stage& stage) {
    return stage.name != "max" && stage.name != "exp" && stage.name != "sum";
  });
  CHECK(program.stages.size() == 3, "softmax is made of max, exp and sum");
  return with_prefix(program, "weights.");
}

// The second product without its anchor: inputs and stages before it go to `program`, stages behind
// it read `value` instead.
void append_behind(ir::Program& program, const ir::Program& product, const Replacement& value) {
  const Buffer anchor = product.find_stage("anchor")->outputs[0];
  bool behind = false;
  for (const ir::Stage& stage : product.stages) {
    if (stage.name == "anchor") {
      behind = true;
    } else if (behind) {
      program.stages.push_back(stage);
      replace_reads(program.stages.back(), anchor, value);
    }
  }
  program.outputs = product.outputs;
}

// Attention with rows in parts, stage by stage.
class PartedRows {
 public:
  PartedRows(AttentionPrograms parts, std::int64_t keys)
      : product_(std::move(parts.product)),
        left_(product_.inputs[parts.weights].buffer),
        seen_(parts.scores),
        masked_(parts.masked),
        part_{"c", 0},
        key_{"jj", keys} {
    program_ = with_prefix(parts.scores, "scores.");
    scores_ = program_.outputs[0];
    product_.inputs.erase(product_.inputs.begin() + static_cast<std::ptrdiff_t>(parts.weights));
    program_.inputs.insert(program_.inputs.end(), product_.inputs.begin(), product_.inputs.end());
    const std::int64_t all = scores_->shape.back();
    part_.extent = (all + keys - 1) / keys;
    ragged_ = all % keys != 0;
    static constexpr const char* kNames[] = {"b", "i"};
    const std::size_t first = scores_->shape.size() == 3 ? 0 : 1;
    for (std::size_t d = 0; d + 1 < scores_->shape.size(); ++d) {
      row_axes_.push_back({kNames[d + first], scores_->shape[d]});
      row_.push_back(ir::axis_var(row_axes_.back()));
    }
    part_axes_ = row_axes_;
    part_axes_.push_back(part_);
  }

  Result<ir::Program> build() {
    add_weights();
    add_product();
    add_total();
    append_behind(program_, product_, [&](const Index& index) {
      const Index row(index.begin(), index.end() - 1);
      const Expr total = ir::load(total_, row);
      const Expr divisor = masked_ ? ops::positive_sum(total) : total;
      return ir::load(mixed_, index) * (number(type_, 1) / divisor);
    });
    program_.name = "attention";
    ATTUNE_RETURN_IF_ERROR(ir::verify(program_));
    return std::move(program_);
  }

 private:
  Expr part() const { return ir::axis_var(part_); }
  Expr at(const Expr& key) const { return part() * Expr(key_.extent) + key; }
  // `value`, or `otherwise` for keys beyond the last.
  Expr if_key(const Expr& key, const Expr& value, const Expr& otherwise) const {
    if (!ragged_) return value;
    return ir::select(at(key) < Expr(scores_->shape.back()), value, otherwise);
  }

  // The same for keys that the query does not see.
  Expr if_seen(const Expr& key, const Expr& value, const Expr& otherwise) const {
    return if_key(key, seen_.at(with(row_, {at(key)}), value, otherwise), otherwise);
  }

  void add_weights() {
    const Expr key = ir::axis_var(key_), zero = ir::zero_of(type_);
    const Index place = with(row_, {part()});
    const Expr score = ir::cast(type_, ir::load(scores_, with(row_, {at(key)})));
    greatest_ = ir::add_reduce(program_, "weights.max", part_axes_, {key_}, ir::Reduction::Max,
                               if_seen(key, score, Seen::lowest(type_)));
    // A part may have nothing but masked keys.
    const Expr top = ops::finite_greatest(ir::load(greatest_, place));
    std::vector<ir::Axis> axes = part_axes_;
    axes.push_back(key_);
    power_ = ir::add_compute(program_, "weights.exp", axes,
                             if_seen(key, ir::math(ir::MathFn::Exp, {score - top}), zero));
    sum_ =
        ir::add_reduce(program_, "weights.sum", part_axes_, {key_}, ir::Reduction::Sum,
                       seen_.at(with(row_, {at(key)}), ir::load(power_, with(place, {key})), zero));
  }

  // The anchor of the second product for each part, and what stands before it.
  void add_product() {
    ir::Stage stage;
    for (const ir::Stage& before : product_.stages) {
      stage = before;
      if (before.name == "anchor") break;
      program_.stages.push_back(before);
    }
    const Expr k = ir::var(stage.reduce_axes[0].name);
    columns_ = stage.axes.back();
    stage.reduce_axes[0].extent = key_.extent;
    std::vector<ir::Axis> axes = part_axes_;
    axes.push_back(columns_);
    Expr value = ir::substitute(stage.values[0], {{stage.reduce_axes[0].name, at(k)}});
    value = ir::replace_loads(value, left_, [&](const Index&) {
      return ir::cast(left_->type, ir::load(power_, with(row_, {part(), k})));
    });
    value = if_seen(k, value, ir::zero_of(value.type()));
    const Buffer anchor =
        ir::add_reduce(program_, "anchor", axes, stage.reduce_axes, ir::Reduction::Sum, value);
    // The maximum and the sum of a part follow its columns.
    const ir::Axis wide{"col", columns_.extent + 2};
    const Expr column = ir::axis_var(wide), width(columns_.extent);
    const Index place = with(row_, {part()});
    const Expr inside = ir::min(column, Expr(columns_.extent - 1));
    const Expr own = ir::cast(type_, ir::load(anchor, with(place, {inside})));
    axes.back() = wide;
    parts_ = ir::add_compute(
        program_, "parts", axes,
        ir::select(column < width, own,
                   ir::select(column == width, ir::load(greatest_, place), ir::load(sum_, place))));
  }

  void add_total() {
    const auto of_part = [&](const Expr& column) {
      return ir::load(parts_, with(row_, {part(), column}));
    };
    const Buffer most = ir::add_reduce(program_, "total.max", row_axes_, {part_},
                                       ir::Reduction::Max, of_part(Expr(columns_.extent)));
    Expr top = ir::load(most, row_);
    if (masked_) top = ops::finite_greatest(top);
    const Buffer share =
        ir::add_compute(program_, "total.exp", part_axes_,
                        ir::math(ir::MathFn::Exp, {of_part(Expr(columns_.extent)) - top}));
    const Expr weight = ir::load(share, with(row_, {part()}));
    total_ = ir::add_reduce(program_, "total.sum", row_axes_, {part_}, ir::Reduction::Sum,
                            weight * of_part(Expr(columns_.extent + 1)));
    std::vector<ir::Axis> axes = row_axes_;
    axes.push_back(columns_);
    mixed_ = ir::add_reduce(program_, "mixed", axes, {part_}, ir::Reduction::Sum,
                            weight * of_part(ir::axis_var(columns_)));
  }

  ir::Program program_, product_;
  Buffer left_, scores_, greatest_, power_, sum_, parts_, total_, mixed_;
  Seen seen_;
  bool masked_;
  ir::Axis part_, key_, columns_ = {};
  std::vector<ir::Axis> row_axes_, part_axes_;
  Index row_;
  bool ragged_ = false;
  ir::DType type_ = ir::kF32;  // that sums are kept in
};

}  // namespace

Result<ir::Program> whole_rows(AttentionPrograms parts) {
  const Seen seen(parts.scores);
  ir::Program program = with_prefix(parts.scores, "scores.");
  const Buffer between = program.outputs[0];
  const Buffer read = parts.product.inputs[parts.weights].buffer;
  CHECK(between->shape == read->shape, "scores are read as they are written");
  ATTUNE_ASSIGN(ir::Program weights, weights_of(between, parts.masked));
  const Buffer power = weights.find_stage("weights.exp")->outputs[0];
  const Buffer sum = weights.find_stage("weights.sum")->outputs[0];
  splice(program, std::move(weights), 0,
         [&](const Index& index) { return ir::load(between, index); });
  // What is read of the product is divided by the sum of its row.
  const Buffer anchor = parts.product.find_stage("anchor")->outputs[0];
  for (ir::Stage& stage : parts.product.stages) {
    replace_reads(stage, anchor, [&](const Index& index) {
      const Index row(index.begin(), index.end() - 1);
      const Expr total = ir::load(sum, row);
      const Expr divisor = parts.masked ? ops::positive_sum(total) : total;
      return ir::load(anchor, index) * (number(anchor->type, 1) / ir::cast(anchor->type, divisor));
    });
  }
  splice(program, std::move(parts.product), parts.weights,
         [&](const Index& index) { return ir::cast(read->type, ir::load(power, index)); });
  for (const char* name : {"weights.max", "weights.exp"}) seen.limit(program, name, between);
  for (const char* name : {"weights.sum", "anchor"}) seen.limit(program, name, power);
  program.name = "attention";
  ATTUNE_RETURN_IF_ERROR(ir::verify(program));
  return program;
}

Result<ir::Program> rows_in_parts(AttentionPrograms parts, std::int64_t keys) {
  return PartedRows(std::move(parts), keys).build();
}

}  // namespace attune::graph
