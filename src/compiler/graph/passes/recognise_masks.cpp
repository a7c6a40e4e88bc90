// Masks of attention that are made of constants become a rule: where the keys that a query sees are
// those of a band (all up to its own place, or a window around it), the sum with the mask, or the
// choice by it, is a `band_mask`. Nothing of the size of the scores is read then, and kernels know
// which keys they need not look at.
//   softmax(add(x, C))            -> softmax(band_mask(x)), C = 0 inside, very low outside
//   softmax(where(C, x, low))     -> softmax(band_mask(x))
//   softmax(add(x, add(C, y)))    -> softmax(band_mask(add(x, y))), C = minus infinity outside
#include <algorithm>
#include <limits>

#include "compiler/graph/passes/mask_rules.h"
#include "compiler/graph/passes/match.h"
#include "compiler/graph/passes/pass_list.h"

namespace attune::graph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// A mask this low leaves nothing of a score: numbers of 32 bits have steps of 64 here.
constexpr double kExcluded = -1e9;

struct Band {
  std::int64_t low, high;  // of column less row
};

class Masks {
 public:
  explicit Masks(Rewriter& rewriter) : rewriter_(rewriter) {}

  bool recognise(const Node& node) {
    if (node.op != "softmax") return false;
    const TensorType& type = rewriter_.type(node.outputs[0]);
    if (type.rank() < 2 || integer_of(node, "axis") != type.rank() - 1 || !type.is_static()) {
      return false;
    }
    ValueId scores = node.inputs[0];
    if (const Node* cast = made_only_by(rewriter_, scores, "cast")) scores = cast->inputs[0];
    if (!rewriter_.type(scores).dtype.is_float()) return false;
    if (const Node* sum = made_only_by(rewriter_, scores, "add")) return replace_sum(*sum);
    if (const Node* choice = made_only_by(rewriter_, scores, "where")) {
      return replace_choice(*choice);
    }
    return false;
  }

 private:
  bool replace(const Node& node, ValueId x, const Band& band) {
    return rewriter_.replace(
        node.outputs[0],
        rewriter_.add("band_mask", {x}, {{"low", band.low}, {"high", band.high}}, node.name));
  }

  bool replace_sum(const Node& sum) {
    const TensorType type = rewriter_.type(sum.outputs[0]);
    for (const std::size_t i : {0U, 1U}) {
      const ValueId x = sum.inputs[i], mask = sum.inputs[1 - i];
      if (rewriter_.type(x) != type) continue;
      const auto band = added_band(mask, type, is_product(x) ? kExcluded : -kInfinity);
      if (band) return replace(sum, x, *band);
      const Node* parts = made_by(rewriter_, mask, "add");
      for (const std::size_t k : {0U, 1U}) {
        const auto own = parts ? added_band(parts->inputs[k], type, -kInfinity) : std::nullopt;
        if (!own) continue;
        const ValueId rest = rewriter_.add("add", {x, parts->inputs[1 - k]}, {}, sum.name);
        return replace(sum, rest, *own);
      }
    }
    return false;
  }

  bool replace_choice(const Node& choice) {
    const TensorType type = rewriter_.type(choice.outputs[0]);
    for (const bool kept : {true, false}) {
      const ValueId x = choice.inputs[kept ? 1 : 2], other = choice.inputs[kept ? 2 : 1];
      if (rewriter_.type(x) != type) continue;
      const auto number = mask_rule(rewriter_, other);
      if (!number || !number->is_uniform() ||
          number->inside > (is_product(x) ? kExcluded : -kInfinity)) {
        continue;
      }
      const auto band = find_band(
          choice.inputs[0], type, [&](double value) { return (value != 0) == kept; },
          [&](double value) { return (value != 0) != kept; });
      if (band) return replace(choice, x, *band);
    }
    return false;
  }

  // Whether a value is a product of matrices, maybe scaled: with other masks added, it could be as
  // low as what a mask excludes.
  bool is_product(ValueId id) const {
    for (const char* scale : {"mul", "div"}) {
      const Node* scaled = made_by(rewriter_, id, scale);
      const auto operands = scaled ? constant_operand(rewriter_, *scaled) : std::nullopt;
      if (operands && rewriter_.type(operands->constant).elements() == 1) {
        return made_by(rewriter_, operands->other, "matmul") != nullptr;
      }
    }
    return made_by(rewriter_, id, "matmul") != nullptr;
  }

  // The band of a mask that is added.
  std::optional<Band> added_band(ValueId mask, const TensorType& type, double excluded) const {
    return find_band(
        mask, type, [](double value) { return value == 0; },
        [&](double value) { return value <= excluded; });
  }

  // The band of elements that are seen, where all others are excluded, and every row sees one.
  template <typename IsSeen, typename IsExcluded>
  std::optional<Band> find_band(ValueId mask, const TensorType& type, const IsSeen& is_seen,
                                const IsExcluded& is_excluded) const {
    const Shape& shape = rewriter_.shape(mask);
    const auto rank = type.shape.size();
    if (shape.size() < 2 || shape.back() != type.shape.back() ||
        shape[shape.size() - 2] != type.shape[rank - 2]) {
      return std::nullopt;
    }
    auto rule = mask_rule(rewriter_, mask);
    if (!rule || rule->kind != MaskRule::Kind::Band || rule->is_uniform()) return std::nullopt;
    if (!is_seen(rule->inside)) rule = complement(*rule);
    if (!rule || !is_seen(rule->inside) || !is_excluded(rule->outside)) return std::nullopt;
    const std::int64_t rows = type.shape[rank - 2], columns = type.shape.back();
    const Band band{std::max(rule->low, -(rows - 1)), std::min(rule->high, columns - 1)};
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t first = std::max<std::int64_t>(0, row + band.low);
      if (first > std::min(columns - 1, row + band.high)) return std::nullopt;
    }
    return band;
  }

  Rewriter& rewriter_;
};

}  // namespace

Result<Graph> recognise_masks(const Graph& graph, const PassContext& /*context*/) {
  Rewriter rewriter(graph);
  Masks masks(rewriter);
  for (int n = 0; n < rewriter.node_count(); ++n) {
    if (rewriter.alive(n)) masks.recognise(rewriter.node(n));
  }
  return std::move(rewriter).finish();
}

}  // namespace attune::graph
