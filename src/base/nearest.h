// The word a person probably meant: for hints after a misspelt name.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace attune {

// The choice with the fewest insertions, deletions and substitutions from `word`; empty when even
// that one differs in more than half of the word.
std::string nearest(std::string_view word, std::span<const std::string> choices);

}  // namespace attune
