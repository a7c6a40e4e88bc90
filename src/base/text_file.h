// Reading a whole file that the user named.
#pragma once

#include <string>

#include "base/result.h"

namespace attune {

// Errors say which file and why. Files beyond 1 GiB are refused.
Result<std::string> read_text_file(const std::string& path);

}  // namespace attune
