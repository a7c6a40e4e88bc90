// Text of others on this terminal: names and reasons may hold anything, and must not move its
// cursor, colour it or answer for it.
#pragma once

#include <string>
#include <string_view>

namespace attune::cli {

// Control characters but the end of a line are question marks, those of two bytes in UTF-8 too.
std::string printable(std::string_view text);
// And ends of lines are spaces.
std::string one_line(std::string_view text);

}  // namespace attune::cli
