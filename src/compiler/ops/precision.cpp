#include "compiler/ops/precision.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace attune::ops {
namespace {

// Of a model with one heavy operator.
double own_tolerance(Precision precision) {
  switch (precision) {
    case Precision::F32:
      return 1e-4;
    case Precision::TF32:
      return 1e-3;
    case Precision::F16:
      return 2e-3;
    case Precision::BF16:
      return 1.6e-2;
  }
  CHECK(false, "every precision has a tolerance");
}

}  // namespace

std::string_view name_of(Precision precision) {
  switch (precision) {
    case Precision::F32:
      return "f32";
    case Precision::TF32:
      return "tf32";
    case Precision::F16:
      return "f16";
    case Precision::BF16:
      return "bf16";
  }
  CHECK(false, "every precision has a name");
}

Result<Precision> parse_precision(std::string_view text) {
  for (const Precision precision : kPrecisions) {
    if (name_of(precision) == text) return precision;
  }
  return invalid(fmt::format("there is no precision '{}'", text),
                 "choose one of f32, tf32, f16 and bf16");
}

ir::DType stored_type(Precision precision) {
  if (precision == Precision::F16) return ir::kF16;
  return precision == Precision::BF16 ? ir::kBF16 : ir::kF32;
}

bool is_narrow(Precision precision) { return stored_type(precision) != ir::kF32; }

double tolerance_of(ir::DType type) {
  if (!type.is_float()) return 0;
  if (type == ir::kBF16) return 1e-2;
  return type == ir::kF16 ? 2e-3 : 2e-5;
}

double tolerance_of(Precision precision, int depth) {
  if (precision == Precision::F32) return own_tolerance(precision);
  return own_tolerance(precision) * std::sqrt(std::max(depth, 1));
}

}  // namespace attune::ops
