// A text file line by line, plain or compressed by gzip, however large.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace attune::records {

// Calls `take` with each line, without its end, until it returns false. An error says which file
// and why; what was taken before it stays taken.
Status visit_lines(const std::string& path, const std::function<bool(std::string_view)>& take);

}  // namespace attune::records
