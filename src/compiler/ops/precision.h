// How exactly a model is computed: the type in which heavy operators take their operands, and how
// far results may then be from those of f32. Sums are kept in f32 whatever the precision. All that
// compares results asks here.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "compiler/ir/nodes/dtype.h"

namespace attune::ops {

enum class Precision : std::uint8_t {
  F32,
  TF32,  // f32, whose products may round their operands to 10 bits behind the leading one
  F16,
  BF16,
};
inline constexpr std::array kPrecisions{Precision::F32, Precision::TF32, Precision::F16,
                                        Precision::BF16};

// "f32", "tf32", "f16", "bf16".
std::string_view name_of(Precision precision);
Result<Precision> parse_precision(std::string_view text);

// The type of operands of heavy operators, and of what lies between them.
ir::DType stored_type(Precision precision);
// Whether that is a type of 16 bits.
bool is_narrow(Precision precision);

// The largest error of a correct result in `type`, as a fraction of the largest magnitude in the
// reference, which is computed from the same operands.
double tolerance_of(ir::DType type);
// The same of a model whose longest way has `depth` heavy operators, beside the model in f32: each
// adds roundings that know nothing of those before.
double tolerance_of(Precision precision, int depth);

}  // namespace attune::ops
