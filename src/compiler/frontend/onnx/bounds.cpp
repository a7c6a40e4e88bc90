#include "compiler/frontend/onnx/bounds.h"

#include <algorithm>
#include <cmath>

#include "compiler/frontend/onnx/affine.h"

namespace attune::onnx {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;
using Found = std::optional<Bounds>;

constexpr std::int64_t kMostElements = 64;
constexpr int kLongestChain = 100;
constexpr double kLargestNumber = 1e15;  // up to there doubles count

class Search {
 public:
  Search(const Graph& graph, const Maxima& maxima) : graph_(graph), maxima_(maxima) {}

  Found of(ValueId value) {
    if (value == kNoValue || !graph_.value(value).type.is_static()) return std::nullopt;
    const std::int64_t elements = graph_.value(value).type.elements();
    if (elements > kMostElements || steps_ >= kLongestChain) return std::nullopt;
    ++steps_;
    Found found = look_at(value);
    if (!found || static_cast<std::int64_t>(found->size()) != elements) return std::nullopt;
    for (const Bound& bound : *found) {
      if (!(std::abs(bound.least) < kLargestNumber && std::abs(bound.most) < kLargestNumber)) {
        return std::nullopt;
      }
    }
    return found;
  }

 private:
  Found look_at(ValueId value) {
    const graph::Value& self = graph_.value(value);
    if (self.constant != nullptr) return of_constant(*self.constant);
    if (const auto stated = maxima_.find(value); stated != maxima_.end()) {
      Bounds bounds;
      for (std::int64_t i = 0; i < self.type.elements(); ++i) {
        const auto& most = stated->second;
        bounds.push_back({0, static_cast<double>(most[most.size() == 1 ? 0 : std::size_t(i)])});
      }
      return bounds;
    }
    const Node* node = producer_of(graph_, value);
    return node == nullptr ? std::nullopt : computed(*node);
  }

  static Found of_constant(const ops::Constant& constant) {
    Bounds bounds;
    for (std::int64_t i = 0; i < constant.type.elements(); ++i) {
      bounds.push_back({constant.real(i), constant.real(i)});
    }
    return bounds;
  }

  Found computed(const Node& node) {
    const std::string& op = node.op;
    if (op == "reshape" || op == "identity") return of(node.inputs[0]);
    if (op == "cast") return rounded(of(node.inputs[0]), node);
    if (op == "floor" || op == "ceil") {
      return each(of(node.inputs[0]), op == "floor" ? floor_of : ceil_of);
    }
    if (op == "concat") return joined(node);
    if (op == "slice") return sliced(node);
    if (op == "gather") return gathered(node);
    if (node.inputs.size() != 2) return std::nullopt;
    return combined(node);
  }

  static double floor_of(double x) { return std::floor(x); }
  static double ceil_of(double x) { return std::ceil(x); }
  static double truncated(double x) { return std::trunc(x); }

  static Found each(Found bounds, double (*change)(double)) {
    if (!bounds) return bounds;
    for (Bound& bound : *bounds) bound = {change(bound.least), change(bound.most)};
    return bounds;
  }

  Found rounded(Found bounds, const Node& node) const {
    return graph_.value(node.outputs[0]).type.dtype.is_int() ? each(std::move(bounds), truncated)
                                                             : bounds;
  }

  Found joined(const Node& node) {
    Bounds all;
    if (graph_.value(node.outputs[0]).type.rank() != 1) return std::nullopt;
    for (const ValueId input : node.inputs) {
      const Found part = of(input);
      if (!part) return std::nullopt;
      all.insert(all.end(), part->begin(), part->end());
    }
    return all;
  }

  // Of a row, at places that are numbers.
  static Found picked(const Found& row, const std::vector<std::int64_t>& places) {
    if (!row) return std::nullopt;
    Bounds bounds;
    for (std::int64_t place : places) {
      if (place < 0) place += static_cast<std::int64_t>(row->size());
      if (place < 0 || place >= static_cast<std::int64_t>(row->size())) return std::nullopt;
      bounds.push_back((*row)[static_cast<std::size_t>(place)]);
    }
    return bounds;
  }

  Found sliced(const Node& node) {
    if (graph_.value(node.inputs[0]).type.rank() != 1) return std::nullopt;
    const ops::OpCall call = graph::call_of(graph_, node);
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < call.integers("shape")[0]; ++i) {
      places.push_back(call.integers("starts")[0] + i * call.integers("steps")[0]);
    }
    return picked(of(node.inputs[0]), places);
  }

  Found gathered(const Node& node) {
    const ops::ConstantPtr places = graph_.value(node.inputs[1]).constant;
    if (places == nullptr || graph_.value(node.inputs[0]).type.rank() != 1) return std::nullopt;
    return picked(of(node.inputs[0]), ops::integers(*places));
  }

  Found combined(const Node& node) {
    const Found left = of(node.inputs[0]), right = of(node.inputs[1]);
    // Whatever the other one is, it is not more than this.
    if (node.op == "min" && left.has_value() != right.has_value()) {
      Bounds bounds = left ? *left : *right;
      for (Bound& bound : bounds) bound.least = std::min(bound.least, 0.0);
      return bounds;
    }
    if (!left || !right) return std::nullopt;
    const std::size_t count = std::max(left->size(), right->size());
    const auto fits = [&](const Bounds& side) { return side.size() == count || side.size() == 1; };
    if (!fits(*left) || !fits(*right)) return std::nullopt;
    const bool whole = graph_.value(node.outputs[0]).type.dtype.is_int();
    Bounds bounds;
    for (std::size_t i = 0; i < count; ++i) {
      const auto bound = combined(node.op, (*left)[left->size() == 1 ? 0 : i],
                                  (*right)[right->size() == 1 ? 0 : i], whole);
      if (!bound) return std::nullopt;
      bounds.push_back(*bound);
    }
    return bounds;
  }

  static std::optional<Bound> combined(const std::string& op, Bound a, Bound b, bool whole) {
    if (op == "add") return Bound{a.least + b.least, a.most + b.most};
    if (op == "sub") return Bound{a.least - b.most, a.most - b.least};
    if (op == "min") return Bound{std::min(a.least, b.least), std::min(a.most, b.most)};
    if (op == "max") return Bound{std::max(a.least, b.least), std::max(a.most, b.most)};
    if (a.least < 0 || b.least < 0) return std::nullopt;
    if (op == "mul") return Bound{a.least * b.least, a.most * b.most};
    if (op != "div" || b.least <= 0) return std::nullopt;
    const Bound quotient{a.least / b.most, a.most / b.least};
    return whole ? Bound{std::trunc(quotient.least), std::trunc(quotient.most)} : quotient;
  }

  const Graph& graph_;
  const Maxima& maxima_;
  int steps_ = 0;
};

}  // namespace

std::int64_t Bound::size() const {
  return static_cast<std::int64_t>(std::floor(std::max(most, 0.0)));
}

std::optional<Bounds> bounds_of(const Graph& graph, ValueId value, const Maxima& maxima) {
  return Search(graph, maxima).of(value);
}

}  // namespace attune::onnx
