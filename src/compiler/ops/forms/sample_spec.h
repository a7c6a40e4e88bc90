// A spec of any family, made of its keys alone, for those who go through families that they do not
// name.
#pragma once

#include <string>

#include "compiler/ops/forms/family.h"

namespace attune::ops {

// Keys that must be given get numbers that fall, so that a window, which stands behind what it
// moves over, fits; divide nothing; and differ. Words get the first that is accepted.
std::string sample_spec(const Family& family);

}  // namespace attune::ops
