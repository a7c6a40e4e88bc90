#include "compiler/graph/passes/mask_rules.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "compiler/graph/folding.h"
#include "compiler/graph/passes/match.h"

namespace attune::graph {
namespace {

using Kind = MaskRule::Kind;
using Rule = std::optional<MaskRule>;

constexpr int kDeepest = 24;  // nodes below each other
// Beyond all matrices: where a band has no end.
constexpr std::int64_t kEndless = std::int64_t{1} << 40;

MaskRule uniform(double value) {
  return {.inside = value, .outside = value, .low = -kEndless, .high = kEndless};
}

// The dimension counted from the last one that is longer than 1; -1: none, -2: several.
int only_long(const Shape& shape) {
  int found = -1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    found = found == -1 ? static_cast<int>(shape.size() - 1 - d) : -2;
  }
  return found;
}

bool is_matrix(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end() - std::min<std::ptrdiff_t>(2, std::ssize(shape)),
                     [](std::int64_t extent) { return extent == 1; });
}

// The last two extents.
std::array<std::int64_t, 2> matrix_of(const Shape& shape) {
  return {shape.size() < 2 ? 1 : shape[shape.size() - 2], shape.empty() ? 1 : shape.back()};
}

// A constant of two numbers whose first element is one of the band, or one that is not.
Rule two_numbers(const Constant& constant, bool first_inside) {
  const auto [rows, columns] = matrix_of(constant.type.shape);
  const double first = constant.real(0);
  MaskRule rule{.low = -kEndless, .high = kEndless};
  double other = first;
  for (std::int64_t n = 0; n < rows * columns; ++n) {
    const double value = constant.real(n);
    if (other == first) other = value;
    if (value != first && value != other) return std::nullopt;
  }
  rule.inside = first_inside ? first : other;
  rule.outside = first_inside ? other : first;
  const auto inside = [&](std::int64_t row, std::int64_t column) {
    return constant.real(row * columns + column) == rule.inside;
  };
  // The ends of the band by the rows in which they lie.
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t begin = 0, end = columns;
    while (begin < columns && !inside(row, begin)) ++begin;
    while (end > begin && !inside(row, end - 1)) --end;
    if (begin == end) continue;
    if (begin > 0) rule.low = begin - row;
    if (end < columns) rule.high = end - 1 - row;
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      const bool in_band = rule.low <= column - row && column - row <= rule.high;
      const double value = constant.real(row * columns + column);
      if (value != (in_band ? rule.inside : rule.outside)) return std::nullopt;
    }
  }
  return rule;
}

// Numbers that count up along the one dimension that is longer than 1.
Rule numbered(const Constant& constant) {
  const int along = only_long(constant.type.shape);
  if ((along != 0 && along != 1) || constant.type.dtype.is_bool()) return std::nullopt;
  const double first = constant.real(0);
  if (first != std::floor(first) || std::abs(first) > 1e9) return std::nullopt;
  for (std::int64_t n = 1; n < constant.type.elements(); ++n) {
    if (constant.real(n) != first + static_cast<double>(n)) return std::nullopt;
  }
  return MaskRule{.kind = along == 0 ? Kind::Columns : Kind::Rows,
                  .first = static_cast<std::int64_t>(first)};
}

Rule rule_of(const Constant& constant) {
  if (constant.type.elements() == 0 || !is_matrix(constant.type.shape)) return std::nullopt;
  if (constant.type.elements() == 1) return uniform(constant.real(0));
  if (const Rule rule = numbered(constant)) return rule;
  const Rule rule = two_numbers(constant, true);
  return rule ? rule : two_numbers(constant, false);
}

class Rules {
 public:
  explicit Rules(const Rewriter& rewriter) : rewriter_(rewriter) {}

  Rule of(ValueId id, int depth) const {
    if (id == kNoValue || depth > kDeepest) return std::nullopt;
    const TensorType& type = rewriter_.type(id);
    if (!type.is_static() || type.elements() == 0) return std::nullopt;
    if (const ConstantPtr constant = rewriter_.constant_of(id)) return rule_of(*constant);
    const Node* node = rewriter_.maker(id);
    if (node == nullptr || node->outputs.size() != 1) return std::nullopt;
    const ops::OpKind kind = operator_of(*node).kind;
    const bool moves = node->op == "trilu" || node->op == "slice" || node->op == "expand";
    if (!moves && kind != ops::OpKind::View && kind != ops::OpKind::Elementwise) {
      return std::nullopt;
    }
    const Rule first = of(node->inputs[0], depth + 1);
    if (!first) return std::nullopt;
    if (node->op == "trilu") return triangle(*node, *first);
    if (node->op == "slice") return sliced(*node, *first);
    if (node->op == "expand") return first;
    if (kind == ops::OpKind::View) return viewed(*node, *first);
    std::vector<MaskRule> rules{*first};
    for (std::size_t i = 1; i < node->inputs.size(); ++i) {
      const Rule other = of(node->inputs[i], depth + 1);
      if (!other) return std::nullopt;
      rules.push_back(*other);
    }
    if (const Rule compared = comparison(*node, rules)) return compared;
    return elementwise(*node, rules);
  }

 private:
  Rule triangle(const Node& node, const MaskRule& data) const {
    std::int64_t diagonal = 0;
    if (node.inputs.size() > 1 && node.inputs[1] != kNoValue) {
      const ConstantPtr number = rewriter_.constant_of(node.inputs[1]);
      if (number == nullptr) return std::nullopt;
      diagonal = number->integer(0);
    }
    if (!data.is_uniform()) return std::nullopt;
    const bool upper = integer_of(node, "upper") != 0;
    return MaskRule{.inside = data.inside,
                    .outside = 0,
                    .low = upper ? diagonal : -kEndless,
                    .high = upper ? kEndless : diagonal};
  }

  // Rows and columns from where the slice begins.
  Rule sliced(const Node& node, MaskRule data) const {
    const Shape& starts = integers_of(node, "starts");
    const Shape& steps = integers_of(node, "steps");
    if (std::any_of(steps.begin(), steps.end(), [](std::int64_t step) { return step != 1; })) {
      return std::nullopt;
    }
    const auto [row, column] = matrix_start(starts);
    if (data.kind != Kind::Band) {
      data.first += data.kind == Kind::Rows ? row : column;
    } else if (!data.is_uniform()) {
      if (data.low > -kEndless) data.low += row - column;
      if (data.high < kEndless) data.high += row - column;
    }
    return data;
  }

  static std::array<std::int64_t, 2> matrix_start(const Shape& starts) {
    return {starts.size() < 2 ? 0 : starts[starts.size() - 2], starts.empty() ? 0 : starts.back()};
  }

  // The same elements under another shape: matrices stay, and numbered ones turn.
  Rule viewed(const Node& node, MaskRule data) const {
    const Shape& from = rewriter_.shape(node.inputs[0]);
    const Shape& to = rewriter_.shape(node.outputs[0]);
    if (data.is_uniform() || matrix_of(from) == matrix_of(to)) return data;
    const int along = only_long(to);
    if (data.kind == Kind::Band || only_long(from) < 0 || (along != 0 && along != 1)) {
      return std::nullopt;
    }
    data.kind = along == 0 ? Kind::Columns : Kind::Rows;
    return data;
  }

  // Of numbered columns with numbered rows.
  static Rule comparison(const Node& node, const std::vector<MaskRule>& rules) {
    const bool less = node.op == "less", at_most = node.op == "less_or_equal";
    const bool more = node.op == "greater", at_least = node.op == "greater_or_equal";
    if (rules.size() != 2 || !(less || at_most || more || at_least)) return std::nullopt;
    const bool columns_first = rules[0].kind == Kind::Columns && rules[1].kind == Kind::Rows;
    const bool rows_first = rules[0].kind == Kind::Rows && rules[1].kind == Kind::Columns;
    if (!columns_first && !rows_first) return std::nullopt;
    // column + c OP row + r, seen from the columns.
    const std::int64_t distance =
        rules[columns_first ? 1 : 0].first - rules[columns_first ? 0 : 1].first;
    const bool upward =
        columns_first ? less || at_most : more || at_least;  // column is the smaller
    const std::int64_t strict = less || more ? 1 : 0;
    return MaskRule{.inside = 1,
                    .outside = 0,
                    .low = upward ? -kEndless : distance + strict,
                    .high = upward ? distance - strict : kEndless};
  }

  // Of operands that are uniform or share one band: what the operator makes of both numbers.
  Rule elementwise(const Node& node, std::vector<MaskRule>& rules) const {
    if (rules.size() == 1 && rules[0].kind != Kind::Band) return moved(node, rules[0]);
    const auto counted = std::find_if(rules.begin(), rules.end(),
                                      [](const MaskRule& rule) { return rule.kind != Kind::Band; });
    if (counted != rules.end()) return shifted(node, rules);
    if (node.op == "and" && in_both(rules[0], rules[1])) return in_both(rules[0], rules[1]);
    const MaskRule* band = nullptr;
    for (const MaskRule& rule : rules) {
      if (rule.is_uniform()) continue;
      if (band != nullptr && (band->low != rule.low || band->high != rule.high)) {
        return std::nullopt;
      }
      band = &rule;
    }
    MaskRule result = band != nullptr ? *band : uniform(0);
    const auto inside = value_of(node, rules, true), outside = value_of(node, rules, false);
    if (!inside || !outside || std::isnan(*inside) || std::isnan(*outside)) return std::nullopt;
    result.inside = *inside;
    result.outside = *outside;
    return result;
  }

  // What lies in both of two bands.
  static Rule in_both(const MaskRule& one, const MaskRule& other) {
    const auto is_condition = [](const MaskRule& rule) {
      return rule.inside == 1 && rule.outside == 0;
    };
    if (!is_condition(one) || !is_condition(other)) return std::nullopt;
    MaskRule both = one;
    both.low = std::max(one.low, other.low);
    both.high = std::min(one.high, other.high);
    return both;
  }

  // Numbers of another type.
  static Rule moved(const Node& node, const MaskRule& rule) {
    if (node.op == "cast" || node.op == "identity") return rule;
    return std::nullopt;
  }

  // Numbers that begin elsewhere.
  static Rule shifted(const Node& node, const std::vector<MaskRule>& rules) {
    if (rules.size() != 2 || (node.op != "add" && node.op != "sub")) return std::nullopt;
    const bool second = rules[1].is_uniform();
    const MaskRule& by = rules[second ? 1 : 0];
    if (!by.is_uniform() || by.inside != std::floor(by.inside) || std::abs(by.inside) > 1e9) {
      return std::nullopt;
    }
    if (node.op == "sub" && !second) return std::nullopt;
    MaskRule result = rules[second ? 0 : 1];
    const auto distance = static_cast<std::int64_t>(by.inside);
    result.first += node.op == "sub" ? -distance : distance;
    return result;
  }

  std::optional<double> value_of(const Node& node, const std::vector<MaskRule>& rules,
                                 bool inside) const {
    ops::OpCall call = rewriter_.call(node);
    for (std::size_t i = 0; i < rules.size(); ++i) {
      call.inputs[i] = {call.inputs[i].dtype, {}, {}};
      call.constants[i] =
          ops::scalar_constant(call.inputs[i].dtype, inside ? rules[i].inside : rules[i].outside);
    }
    const auto result = evaluate(call, nullptr);
    if (!result.ok()) return std::nullopt;
    return result->front()->real(0);
  }

  const Rewriter& rewriter_;
};

}  // namespace

std::optional<MaskRule> mask_rule(const Rewriter& rewriter, ValueId id) {
  return Rules(rewriter).of(id, 0);
}

std::optional<MaskRule> complement(const MaskRule& band) {
  MaskRule result = band;
  std::swap(result.inside, result.outside);
  if (band.low <= -kEndless && band.high < kEndless) {
    result.low = band.high + 1;
    result.high = kEndless;
  } else if (band.high >= kEndless && band.low > -kEndless) {
    result.low = -kEndless;
    result.high = band.low - 1;
  } else {
    return std::nullopt;
  }
  return result;
}

}  // namespace attune::graph
