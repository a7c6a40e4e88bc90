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

// Whether a processor could be like that. What a throttled, emulated or crowded machine shows often
// could not.
bool is_plausible(const target::Machine& machine);

}  // namespace attune::cpu
