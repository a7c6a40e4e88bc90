// Reductions over axes: sums and their relatives, extremes and where they are. Sums of floats are
// kept in double and rounded once.
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/host/elements.h"
#include "runtime/host/list.h"
#include "runtime/host/strides.h"

namespace attune::runtime::host {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

enum class Kind { Sum, Mean, Product, Max, Min, L1, L2, LogSum, LogSumExp, SumSquare };

struct Reduction {
  std::string_view name;
  Kind kind;
};
constexpr Reduction kReductions[] = {{"ReduceSum", Kind::Sum},
                                     {"ReduceMean", Kind::Mean},
                                     {"ReduceProd", Kind::Product},
                                     {"ReduceMax", Kind::Max},
                                     {"ReduceMin", Kind::Min},
                                     {"ReduceL1", Kind::L1},
                                     {"ReduceL2", Kind::L2},
                                     {"ReduceLogSum", Kind::LogSum},
                                     {"ReduceLogSumExp", Kind::LogSumExp},
                                     {"ReduceSumSquare", Kind::SumSquare}};

// Which axes go, the resulting shape, and where each input element is added.
struct Axes {
  std::uint32_t reduced = 0;
  Shape result;
  Shape strides;  // of the result, along the axes of the input; 0 where reduced
};

Axes arrange(const Shape& shape, std::uint32_t reduced, bool keep) {
  Axes axes;
  axes.reduced = reduced;
  Shape kept;  // with 1 for reduced axes
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    const bool gone = (reduced >> d & 1) != 0;
    kept.push_back(gone ? 1 : shape[d]);
    if (!gone || keep) axes.result.push_back(gone ? 1 : shape[d]);
  }
  axes.strides = row_major_strides(kept);
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    if ((reduced >> d & 1) != 0) axes.strides[d] = 0;
  }
  return axes;
}

Result<std::uint32_t> read_axes(const Call& call, std::size_t rank) {
  ATTUNE_ASSIGN(const auto given, call.integers(1, "axes"));
  std::uint32_t reduced = 0;
  if (!given || given->empty()) {
    const bool nothing = call.integer("noop_with_empty_axes", 0) != 0;
    return nothing ? 0u : (1u << rank) - 1;
  }
  for (const std::int64_t axis : *given) {
    ATTUNE_ASSIGN(const std::size_t known, call.axis(axis, rank));
    reduced |= 1u << known;
  }
  return reduced;
}

double start_of(Kind kind) {
  switch (kind) {
    case Kind::Product:
      return 1.0;
    case Kind::Max:
      return -kInfinity;
    case Kind::Min:
      return kInfinity;
    default:
      return 0.0;
  }
}

void accumulate(Kind kind, double& sum, double x) {
  switch (kind) {
    case Kind::Product:
      sum *= x;
      return;
    case Kind::Max:
      if (!(x <= sum) && !std::isnan(sum)) sum = x;
      return;
    case Kind::Min:
      if (!(x >= sum) && !std::isnan(sum)) sum = x;
      return;
    case Kind::L1:
      sum += std::abs(x);
      return;
    case Kind::L2:
    case Kind::SumSquare:
      sum += x * x;
      return;
    case Kind::Sum:
    case Kind::Mean:
    case Kind::LogSum:
    case Kind::LogSumExp:
      sum += x;
      return;
  }
}

double finished(Kind kind, double sum, double count) {
  if (kind == Kind::Mean) return sum / count;
  if (kind == Kind::L2) return std::sqrt(sum);
  if (kind == Kind::LogSum) return std::log(sum);
  return sum;
}

using Sums = std::vector<double>;

Sums reduce_reals(const HostTensor& input, const Axes& axes, Kind kind, std::int64_t results) {
  Sums sums(static_cast<std::size_t>(results), start_of(kind));
  std::int64_t i = 0;
  each_index(input.shape, axes.strides, 0, [&](const Shape&, std::int64_t to) {
    accumulate(kind, sums[static_cast<std::size_t>(to)], real_at(input, i++));
  });
  return sums;
}

// log(sum(exp(x))), with the largest x taken out so that exp stays finite.
Sums log_sum_exp(const HostTensor& input, const Axes& axes, std::int64_t results) {
  Sums largest = reduce_reals(input, axes, Kind::Max, results);
  for (double& value : largest) {
    if (std::isinf(value)) value = 0.0;
  }
  Sums sums(largest.size(), 0.0);
  std::int64_t i = 0;
  each_index(input.shape, axes.strides, 0, [&](const Shape&, std::int64_t to) {
    const auto at = static_cast<std::size_t>(to);
    sums[at] += std::exp(real_at(input, i++) - largest[at]);
  });
  for (std::size_t k = 0; k < sums.size(); ++k) sums[k] = std::log(sums[k]) + largest[k];
  return sums;
}

bool stays_whole(Kind kind) {
  return kind == Kind::Sum || kind == Kind::Product || kind == Kind::Max || kind == Kind::Min ||
         kind == Kind::L1 || kind == Kind::SumSquare;
}

std::vector<std::int64_t> reduce_integers(const HostTensor& input, const Axes& axes, Kind kind,
                                          std::int64_t results) {
  const bool words = input.type == DType::U64;
  // Extremes compare order keys, so that u64 needs no case of its own.
  constexpr auto kSign = std::numeric_limits<std::int64_t>::min();
  const auto key = [&](std::int64_t x) { return words ? x ^ kSign : x; };
  std::vector<std::int64_t> sums(static_cast<std::size_t>(results), kind == Kind::Product ? 1 : 0);
  std::vector<bool> begun(sums.size(), false);
  std::int64_t i = 0;
  each_index(input.shape, axes.strides, 0, [&](const Shape&, std::int64_t to) {
    const auto at = static_cast<std::size_t>(to);
    const std::int64_t x = integer_at(input, i++);
    const auto a = static_cast<std::uint64_t>(sums[at]);
    const auto b = static_cast<std::uint64_t>(x);
    if (kind == Kind::Max || kind == Kind::Min) {
      const bool better = kind == Kind::Max ? key(x) > key(sums[at]) : key(x) < key(sums[at]);
      if (!begun[at] || better) sums[at] = x;
      begun[at] = true;
    } else if (kind == Kind::Product) {
      sums[at] = static_cast<std::int64_t>(a * b);
    } else if (kind == Kind::SumSquare) {
      sums[at] = static_cast<std::int64_t>(a + b * b);
    } else {
      const bool negate = kind == Kind::L1 && x < 0 && !words;
      sums[at] = static_cast<std::int64_t>(negate ? a - b : a + b);
    }
  });
  return sums;
}

}  // namespace

Status reduce(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(1, 2));
  const auto* known = std::ranges::find(kReductions, call.op, &Reduction::name);
  if (known == std::end(kReductions)) return call.bad("it is not known");
  const HostTensor& input = call.inputs[0];
  ATTUNE_ASSIGN(const std::uint32_t reduced, read_axes(call, input.shape.rank()));
  const Axes axes = arrange(input.shape, reduced, call.integer("keepdims", 1) != 0);
  ATTUNE_RETURN_IF_ERROR(call.shape_output(0, input.type, axes.result));
  if (!call.has_output(0)) return {};
  const std::int64_t results = axes.result.elements();
  const bool real = domain_of(input.type) == Domain::Real;
  if (!real && stays_whole(known->kind)) {
    const auto sums = reduce_integers(input, axes, known->kind, results);
    store_integers(call.outputs[0], 0, sums.data(), results);
    return {};
  }
  Sums sums = known->kind == Kind::LogSumExp ? log_sum_exp(input, axes, results)
                                             : reduce_reals(input, axes, known->kind, results);
  const double count =
      results > 0 ? static_cast<double>(input.shape.elements()) / static_cast<double>(results)
                  : 0.0;
  for (double& sum : sums) sum = finished(known->kind, sum, count);
  store_reals(call.outputs[0], 0, sums.data(), results);
  return {};
}

// ArgMax and ArgMin: where along an axis the extreme is; of equal ones the first, or the last.
Status arg_extreme(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(1, 1));
  const HostTensor& input = call.inputs[0];
  ATTUNE_ASSIGN(const std::size_t axis, call.axis(call.integer("axis", 0), input.shape.rank()));
  const Axes axes = arrange(input.shape, 1u << axis, call.integer("keepdims", 1) != 0);
  ATTUNE_RETURN_IF_ERROR(call.shape_output(0, DType::I64, axes.result));
  if (!call.has_output(0)) return {};
  const std::int64_t extent = input.shape[axis];
  if (extent == 0 && axes.result.elements() > 0) return call.bad("the axis has no elements");
  const bool last = call.integer("select_last_index", 0) != 0;
  const bool largest = call.op == "ArgMax";
  const std::int64_t inner = Shape(input.shape.span().subspan(axis + 1)).elements();
  std::vector<std::int64_t> keys(static_cast<std::size_t>(extent));
  auto* out = static_cast<std::int64_t*>(call.outputs[0].data);
  for (std::int64_t row = 0; row < axes.result.elements(); ++row) {
    load_order_keys(keys.data(), input, row / inner * extent * inner + row % inner, inner, extent);
    std::size_t best = 0;
    for (std::size_t i = 1; i < keys.size(); ++i) {
      const bool better = largest ? keys[i] > keys[best] : keys[i] < keys[best];
      if (better || (last && keys[i] == keys[best])) best = i;
    }
    out[row] = static_cast<std::int64_t>(best);
  }
  return {};
}

}  // namespace attune::runtime::host
