// How C spells element types and constants. A value of a type in arithmetic may differ from the
// type in memory: f16 and bf16 are 16 bits in memory and float otherwise, bool is a byte in memory
// and int otherwise.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/ir/nodes/dtype.h"

namespace attune::c_text {

// Types that exist in memory only; their values are held as f32.
constexpr bool is_small_float(ir::DType type) { return type.is_float() && type.bits == 16; }
// The element type of a value of this type: f32 for small floats.
ir::DType held_as(ir::DType type);

// "float", "int64_t", "int" for bool.
std::string value_type(ir::DType type);
// "uint16_t" for f16 and bf16, "uint8_t" for bool, the value type otherwise.
std::string memory_type(ir::DType type);
// What the macros of prelude/vectors.h call the element type: "f32", "i64".
std::string value_tag(ir::DType type);
std::string memory_tag(ir::DType type);
// The tag of a lane of a truth value beside lanes of so many bits: "i32".
std::string mask_tag(int bits);

// Constants, in parentheses where they are negative.
std::string int_literal(std::int64_t value, ir::DType type);
std::string float_literal(double value, ir::DType type);

}  // namespace attune::c_text
