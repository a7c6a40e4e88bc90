// Whether bytes are text: names and paths come from others, and what is sent or written as text
// must be UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace attune {

bool is_utf8(std::string_view bytes);
// As text: bytes that belong to none become U+FFFD, each.
std::string as_utf8(std::string_view bytes);

}  // namespace attune
