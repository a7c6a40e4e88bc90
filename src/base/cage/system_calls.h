// The names of system calls, so that rules can be written and read in words: what one name means is
// a number that differs from one architecture to the next, and some exist on a few only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace attune {

// Nothing where this architecture has no such call. A name that none has is a mistake of ours.
std::optional<long> call_number(std::string_view name);

// "socket"; "system call 999" for those without a name here.
std::string call_name(long number);

}  // namespace attune
