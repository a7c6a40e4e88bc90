// What was measured of a machine, in a file: one number a line, for that machine alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compiler/target/machine.h"

namespace attune::cpu {

// `identity` says in one line which machine it is.
std::string machine_text(const target::Machine& machine, std::string_view identity);
// Nothing when the text is damaged, or of another machine. What is not measured is as in `stated`.
std::optional<target::Machine> parse_machine(std::string_view text, std::string_view identity,
                                             const target::Machine& stated = {});

// With the stated figure in place of each that no processor has: what a throttled, emulated or
// crowded machine shows. Nothing where the clock or the rate of multiply-adds is such a figure, as
// all others are by the cycle.
std::optional<target::Machine> mended(const target::Machine& measured,
                                      const target::Machine& stated);

}  // namespace attune::cpu
