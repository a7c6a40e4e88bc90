#include "compiler/graph/tasks/zeros.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "compiler/graph/constants.h"

namespace attune::graph {
namespace {

using ops::OpKind;
using ops::Zeros;

// Added to noise, or put in its place, a constant of this size hides it.
constexpr double kHides = 1e-3;

// From the last node to the first: what a consumer asks of a value, its producer asks of its
// inputs, by what its operator says of zeros.
class ZeroSearch {
 public:
  explicit ZeroSearch(const Graph& graph) : graph_(graph), care_(graph.values.size(), 0) {
    for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) visit(*node);
  }

  std::vector<bool> found() const {
    std::vector<bool> result;
    for (const double care : care_) result.push_back(care > 0);
    return result;
  }

 private:
  void visit(const Node& node) {
    const ops::OpDef& def = operator_of(node);
    const bool moves = def.kind == OpKind::View || def.kind == OpKind::Injective;
    const Zeros rule = moves ? Zeros::All : def.traits.zeros;
    begin(node, rule);
    double care = 0;
    for (const ValueId output : node.outputs) care = std::max(care, care_of(output));
    if (care > 0) go_on(node.inputs, rule, care);
  }

  // Where noise becomes large.
  void begin(const Node& node, Zeros rule) {
    const auto& in = node.inputs;
    switch (rule) {
      case Zeros::Sharpened:
        return mark(in[0], kHides);
      case Zeros::Quotient:
      case Zeros::Remainder:
        return mark(in[1], kHides);
      case Zeros::Power:
        if (least(in[1]).value_or(1) < 0) mark(in[0], kHides);
        return;
      case Zeros::Cast:
        if (graph_.value(node.outputs[0]).type.dtype == ir::kBool) mark(in[0], kHides);
        return;
      case Zeros::Comparison:
        for (const std::size_t i : {0u, 1u}) {
          if (least(in[1 - i]).value_or(1) == 0) mark(in[i], kHides);
        }
        return;
      default:
        return;
    }
  }

  // Through what zeros stay zeros.
  void go_on(const std::vector<ValueId>& in, Zeros rule, double care) {
    switch (rule) {
      case Zeros::Lost:
      case Zeros::Remainder:
      case Zeros::Sharpened:
      case Zeros::Comparison:
        return;
      case Zeros::First:
      case Zeros::Quotient:
      case Zeros::Cast:
        return mark(in[0], care);
      case Zeros::All:
        return mark_all(in, care);
      case Zeros::Sum:
        return through_sum(in, care);
      case Zeros::Floor:
        return through_floor(in, care);
      case Zeros::Product:
        return mark_all(in, in[0] == in[1] ? std::sqrt(care) : care);
      case Zeros::Square:
        return mark(in[0], std::sqrt(care));
      case Zeros::Root:
        return mark(in[0], care * care);
      case Zeros::Power:
        return mark(in[0], least(in[1]).value_or(0) == 0.5 ? care * care : care);
    }
  }

  // A second tensor of data hides the noise of the first, and so does a constant that is nowhere
  // smaller than what is asked for.
  void through_sum(const std::vector<ValueId>& in, double care) {
    if (const auto first = least(in[0]); first && std::abs(*first) < care) mark(in[1], care);
    if (const auto second = least(in[1]); second && std::abs(*second) < care) mark(in[0], care);
  }
  void through_floor(const std::vector<ValueId>& in, double care) {
    for (const std::size_t i : {0u, 1u}) {
      if (i < in.size() && least(in[i]).value_or(0) >= care) return;
    }
    mark_all(in, care);
  }

  // The smallest magnitude of a constant with its sign, if the value is one.
  std::optional<double> least(ValueId id) const {
    if (id == kNoValue || graph_.value(id).constant == nullptr) return std::nullopt;
    const std::vector<double> all = reals(*graph_.value(id).constant);
    const auto closer = [](double a, double b) { return std::abs(a) < std::abs(b); };
    const auto smallest = std::min_element(all.begin(), all.end(), closer);
    return smallest == all.end() ? std::nullopt : std::optional(*smallest);
  }

  void mark_all(const std::vector<ValueId>& ids, double care) {
    for (const ValueId id : ids) mark(id, care);
  }
  void mark(ValueId id, double care) {
    if (id == kNoValue || !graph_.value(id).type.dtype.is_float()) return;
    double& known = care_[static_cast<std::size_t>(id)];
    known = std::max(known, care);
  }
  double care_of(ValueId id) const {
    return id == kNoValue ? 0 : care_[static_cast<std::size_t>(id)];
  }

  const Graph& graph_;
  std::vector<double> care_;  // per value: how large a constant hides its noise; 0: nobody asks
};

}  // namespace

std::vector<bool> values_with_exact_zeros(const Graph& graph) { return ZeroSearch(graph).found(); }

bool forget_mixing(ops::Operator& op) {
  return std::erase_if(op.alternatives, [](const auto& other) { return other.mixes; }) > 0;
}

}  // namespace attune::graph
