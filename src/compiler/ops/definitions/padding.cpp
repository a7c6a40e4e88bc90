// Padding: borders around a tensor, filled with a value or from the tensor itself. Negative pads
// cut off; what reflects or wraps is what is left.
#include <fmt/format.h>

#include "compiler/ops/definitions/indexing.h"
#include "compiler/ops/op_def.h"

namespace attune::ops {
namespace {

using Index = std::vector<ir::Expr>;

Result<std::vector<TensorType>> infer_pad(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(require_static(call));
  TensorType type = call.inputs[0];
  const Shape& pads = call.integers("pads");
  const std::string& mode = call.word("mode");
  const std::size_t rank = type.shape.size();
  if (pads.size() != 2 * rank) {
    return does_not_fit(call, fmt::format("{} pads for {} dimensions", pads.size(), rank));
  }
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t extent = type.shape[i];
    type.shape[i] += pads[i] + pads[i + rank];
    if (type.shape[i] < 0) {
      return does_not_fit(call, fmt::format("pads {} and {} leave nothing of dimension {}", pads[i],
                                            pads[i + rank], i));
    }
    if (mode != "constant" && extent == 0 && type.shape[i] > 0) {
      return does_not_fit(call, fmt::format("dimension {} has nothing to fill its border with", i));
    }
  }
  return std::vector{type};
}

bool pads_nothing(const OpCall& call) { return all_are(call.integers("pads"), 0); }

// Where the element at `place` (relative to the first that is kept) comes from, in 0 … extent - 1.
ir::Expr source(const std::string& mode, const ir::Expr& place, std::int64_t extent) {
  if (mode == "edge" || extent == 1) return clamped(place, extent);
  if (mode == "wrap") return place % ir::Expr(extent);
  const ir::Expr around = place % ir::Expr(2 * (extent - 1));
  return ir::min(around, ir::Expr(2 * (extent - 1)) - around);
}

ir::Expr pad_element(const OpCall& call, const std::vector<Read>& inputs, const Index& index) {
  const TensorType& type = call.inputs[0];
  const Shape& pads = call.integers("pads");
  const std::string& mode = call.word("mode");
  const std::size_t rank = type.shape.size();
  Index from;
  ir::Expr inside;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t before = pads[i], after = pads[i + rank];
    const ir::Expr place = before == 0 ? index[i] : index[i] - ir::Expr(before);
    if (before <= 0 && after <= 0) {
      from.push_back(place);
    } else if (mode == "constant") {
      if (before > 0) require(inside, place >= 0);
      if (after > 0) require(inside, place < ir::Expr(type.shape[i]));
      from.push_back(place);
    } else {
      const std::int64_t cut = before < 0 ? -before : 0;
      const std::int64_t left = type.shape[i] - cut + (after < 0 ? after : 0);
      const ir::Expr moved = cut == 0 ? place : place - ir::Expr(cut);
      // Between the borders nothing is computed: loops are cut there.
      ir::Expr between;
      if (before > 0) require(between, moved >= 0);
      if (after > 0) require(between, moved < ir::Expr(left));
      const ir::Expr kept = ir::select(between, moved, source(mode, moved, left));
      from.push_back(cut == 0 ? kept : kept + ir::Expr(cut));
    }
  }
  if (!inside) return inputs[0](from);
  ir::Expr fill = ir::zero_of(type.dtype);
  if (call.has(1)) {
    fill = ir::cast(type.dtype, inputs[1](Index(call.inputs[1].shape.size(), ir::Expr(0))));
  }
  return ir::select(inside, inputs[0](from), fill);
}

}  // namespace

std::vector<OpDef> padding_operators() {
  return {by_element(
      "pad", OpKind::Injective, infer_pad, pad_element,
      {.keeps_channels = true, .narrow = true, .does_nothing = pads_nothing, .host = kNoHost})};
}

}  // namespace attune::ops
