// What passes may rely on about an operator, declared in its definition and checked against its
// meaning by the conformance tests. A pass asks for a property here instead of naming operators.
#pragma once

#include <cstdint>
#include <string_view>

namespace attune::ops {

struct OpCall;

// How noise in the place of zeros goes through an operator (compiler/graph/tasks/zeros.h). Views
// and injective operators hand it on whatever they say here; only floats have noise.
enum class Zeros : std::uint8_t {
  Lost,        // the result of a zero is something else, or other values hide it
  First,       // zeros of the first operand stay zeros, noise stays as large
  All,         // those of every operand
  Sum,         // of an operand if the other one is a constant, and small
  Product,     // of both; the product of a value with itself squares noise
  Square,      // of the first, whose noise is squared
  Root,        // of the first, whose noise is the square of that of the result
  Power,       // of the base: a root for an exponent of 1/2, a reciprocal for a negative one
  Floor,       // of all, unless the first or the second is a constant that hides noise
  Quotient,    // of the dividend; a divisor of noise makes it as large as everything else
  Remainder,   // a divisor as above
  Sharpened,   // noise becomes as large as everything else
  Comparison,  // the same, where the other side is zero
  Cast,        // of the first; the same where the result is bool
};

// What windows see beyond the border of the data, as if it were padded with that; None: there are
// no windows, or pads mean something else.
enum class PadValue : std::uint8_t { None, Zero, Least };

// Operators without a function in the runtime although one has its name.
inline constexpr std::string_view kNoHost = "-";

struct OpTraits {
  Zeros zeros = Zeros::Lost;
  // Finite for finite operands, but for overflow: lanes beyond the last channel need no guard.
  bool finite = false;
  // No result is negative.
  bool never_negative = false;
  // An element of a channel is made of elements of the same channel, in calls that do not work
  // along the channels.
  bool keeps_channels = false;
  // Loses little where operands and results are kept in 16 bits: they are of like size, and what is
  // computed between them is computed in f32 anyway.
  bool narrow = false;
  // Operands are data however small they are beside the result.
  bool enlarges = false;
  PadValue pads_with = PadValue::None;
  // Each element is made of the element of the first operand at the same place, and of nothing
  // else but that place.
  bool stays_in_place = false;
  // Set for operators that put each element of their only operand at one place at most: whether
  // elements next to each other in the last dimension of the result were so before.
  bool (*keeps_rows)(const OpCall&) = nullptr;
  // Whether a call whose result has the type of its first operand gives that operand unchanged.
  bool (*does_nothing)(const OpCall&) = nullptr;
  // Arithmetic whose two operands may change places, and groups but for rounding: passes put
  // constants on the right and join them.
  bool commutative = false;
  // How many, for those that an `elementwise` spec may chain by name (no attributes); 0: not those.
  std::uint8_t operands = 0;
  // The runtime's function, where it is not the name with capitals ("top_k": "TopK"), or kNoHost.
  std::string_view host = {};
};

}  // namespace attune::ops
