// How deep arrays and objects of a JSON text lie within each other, seen before anybody builds
// them: a line of nothing but brackets would take a hundred times its size.
#pragma once

#include <cstddef>
#include <string_view>

namespace attune {

// Nothing that Attune writes is deeper than a tenth of this.
inline constexpr std::size_t kDeepestJson = 100;

std::size_t json_depth(std::string_view text);

}  // namespace attune
