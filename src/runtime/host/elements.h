// Elements of any type as wide numbers: floats as double, integers as 64 bits (u64 by its bits).
// Operators compute on these, in blocks, so that one piece of code serves all types; storing rounds
// to nearest even or wraps. Results of +, -, *, / and square roots of f32 come out as f32
// arithmetic would give them.
#pragma once

#include <cstdint>

#include "runtime/host/host.h"

namespace attune::runtime::host {

inline constexpr std::int64_t kBlock = 256;

// How the operators treat a type.
enum class Domain : std::uint8_t { Real, Signed, Unsigned };
// Unsigned for u64 alone: the values of narrower types are numbers of 64 signed bits.
Domain domain_of(DType type);

// `count` elements that begin at `start` and lie `step` elements apart.
void load_reals(double* to, const HostTensor& from, std::int64_t start, std::int64_t step,
                std::int64_t count);
// From floats: truncated and saturated, 0 for NaN.
void load_integers(std::int64_t* to, const HostTensor& from, std::int64_t start, std::int64_t step,
                   std::int64_t count);
// Behind one another from `start`.
void store_reals(const HostTensor& to, std::int64_t start, const double* from, std::int64_t count);
// `is_unsigned` tells what the bits mean when the type of `to` is a float.
void store_integers(const HostTensor& to, std::int64_t start, const std::int64_t* from,
                    std::int64_t count, bool is_unsigned = false);

double real_at(const HostTensor& tensor, std::int64_t index);
std::int64_t integer_at(const HostTensor& tensor, std::int64_t index);

// Numbers that compare as the elements do, for any type: -0 like 0, NaN above everything.
void load_order_keys(std::int64_t* to, const HostTensor& from, std::int64_t start,
                     std::int64_t step, std::int64_t count);

// A float that rounds to 16 bits as the double would: inexact results are made odd.
float round_to_odd(double value);

}  // namespace attune::runtime::host
