// Where exact zeros matter. Some algorithms (Strassen, Winograd) let the inputs of neighbours
// cancel, which leaves noise of a ten-millionth where the direct form gives zero: rows of padding,
// say. Mostly nobody can tell, but a model that divides such a row by its own length makes the
// noise as large as everything else.
#pragma once

#include "compiler/graph/graph.h"
#include "compiler/ops/operator.h"

namespace attune::graph {

// For each value whether noise in place of its zeros would show: it reaches a division, a
// logarithm, a sign or a comparison with zero by steps that keep zeros, and no constant on the way
// hides it.
std::vector<bool> values_with_exact_zeros(const Graph& graph);

// Leaves out the alternatives that mix; whether there were any.
bool forget_mixing(ops::Operator& op);

// Tasks without those alternatives have keys of their own: the key of the program xor this.
inline constexpr std::uint64_t kKeyOfZeros = 0x7a65726f73;

}  // namespace attune::graph
