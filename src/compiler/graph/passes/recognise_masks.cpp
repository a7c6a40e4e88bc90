// Masks of attention that are constants become a rule: where the keys that a query sees are those
// of a band (all up to its own place, or a window around it), the sum with the mask, or the choice
// by it, is a `band_mask`. Nothing of the size of the scores is read then, and kernels know which
// keys they need not look at.
//   softmax(add(x, C))            -> softmax(band_mask(x)), C = 0 inside, very low outside
//   softmax(where(C, x, low))     -> softmax(band_mask(x))
//   softmax(add(x, add(C, y)))    -> softmax(band_mask(add(x, y))), C = minus infinity outside
#include <cmath>
#include <limits>
#include <map>

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

// Which elements of a row are seen: those from `first` to `last`.
struct Seen {
  std::int64_t first = -1, last = -1;
};

// What the elements of a mask mean: seen, excluded, or something else.
enum class Mark { Seen, Excluded, Other };

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
      if (const ConstantPtr constant = rewriter_.constant_of(mask)) {
        const auto band = band_of(*constant, type, is_product(x) ? kExcluded : -kInfinity);
        if (band) return replace(sum, x, *band);
        continue;
      }
      const Node* parts = made_by(rewriter_, mask, "add");
      const auto operands = parts ? constant_operand(rewriter_, *parts) : std::nullopt;
      if (!operands) continue;
      const auto band = band_of(*rewriter_.constant_of(operands->constant), type, -kInfinity);
      if (!band) continue;
      return replace(sum, rewriter_.add("add", {x, operands->other}, {}, sum.name), *band);
    }
    return false;
  }

  bool replace_choice(const Node& choice) {
    const TensorType type = rewriter_.type(choice.outputs[0]);
    const ConstantPtr condition = rewriter_.constant_of(choice.inputs[0]);
    if (condition == nullptr) return false;
    for (const bool kept : {true, false}) {
      const ValueId x = choice.inputs[kept ? 1 : 2], other = choice.inputs[kept ? 2 : 1];
      if (rewriter_.type(x) != type || rewriter_.constant_of(other) == nullptr ||
          rewriter_.type(other).elements() != 1 ||
          rewriter_.constant_of(other)->real(0) > (is_product(x) ? kExcluded : -kInfinity)) {
        continue;
      }
      const auto band = find_band(*condition, type, [&](std::int64_t at) {
        return (condition->integer(at) != 0) == kept ? Mark::Seen : Mark::Excluded;
      });
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

  static std::optional<Band> band_of(const Constant& mask, const TensorType& type,
                                     double excluded) {
    return find_band(mask, type, [&](std::int64_t at) {
      const double value = mask.real(at);
      if (value == 0) return Mark::Seen;
      return value <= excluded ? Mark::Excluded : Mark::Other;
    });
  }

  // The band of elements that are seen, of which every row has one.
  template <typename MarkOf>
  static std::optional<Band> find_band(const Constant& mask, const TensorType& type,
                                       const MarkOf& mark) {
    const Shape& shape = mask.type.shape;
    if (shape.size() < 2 || mask.type.elements() == 0) return std::nullopt;
    const std::int64_t rows = shape[shape.size() - 2], columns = shape.back();
    if (mask.type.elements() != rows * columns || columns != type.shape.back() ||
        rows != type.shape[type.shape.size() - 2]) {
      return std::nullopt;
    }
    std::vector<Seen> seen(static_cast<std::size_t>(rows));
    for (std::int64_t row = 0; row < rows; ++row) {
      Seen& own = seen[static_cast<std::size_t>(row)];
      for (std::int64_t column = 0; column < columns; ++column) {
        const Mark found = mark(row * columns + column);
        if (found == Mark::Other) return std::nullopt;
        if (found == Mark::Excluded) continue;
        if (own.first >= 0 && own.last != column - 1) return std::nullopt;
        if (own.first < 0) own.first = column;
        own.last = column;
      }
      if (own.first < 0) return std::nullopt;
    }
    return band_through(seen, columns);
  }

  // Nothing where rows are no band, or see everything.
  static std::optional<Band> band_through(const std::vector<Seen>& seen, std::int64_t columns) {
    const auto rows = static_cast<std::int64_t>(seen.size());
    Band band{-(rows - 1), columns - 1};
    for (std::int64_t row = 0; row < rows; ++row) {
      const Seen& own = seen[static_cast<std::size_t>(row)];
      if (own.first > 0) band.low = own.first - row;
      if (own.last < columns - 1) band.high = own.last - row;
    }
    if (band.low == -(rows - 1) && band.high == columns - 1) return std::nullopt;
    for (std::int64_t row = 0; row < rows; ++row) {
      const Seen& own = seen[static_cast<std::size_t>(row)];
      if (own.first != std::max<std::int64_t>(0, row + band.low) ||
          own.last != std::min(columns - 1, row + band.high)) {
        return std::nullopt;
      }
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
