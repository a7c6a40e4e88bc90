// Records of one store added to another.
#pragma once

#include <string>

#include "base/result.h"

namespace attune::records {

// All records of the file `from`, and what is known of their tasks, in the store `into` as well.
// Again is the same as once.
Status merge_stores(const std::string& from, const std::string& into);

}  // namespace attune::records
