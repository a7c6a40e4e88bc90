// UTF-8 text in columns of a terminal, one for each character: names of tasks and our own signs
// have no wider ones.
#pragma once

#include <string>
#include <string_view>

namespace attune::cli {

std::size_t text_columns(std::string_view text);
// The text, or as much of it as fits, with … for what is missing.
std::string shortened(std::string_view text, std::size_t columns);
// Filled up with blanks, at its end or at its beginning.
std::string left_aligned(std::string_view text, std::size_t columns);
std::string right_aligned(std::string_view text, std::size_t columns);
// For a person: "5 s", "3 min 5 s".
std::string spelled_duration(double seconds);

}  // namespace attune::cli
