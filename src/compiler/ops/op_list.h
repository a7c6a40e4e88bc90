// The operators of one family each, one function per file; op_list.cpp puts them together.
#pragma once

#include <vector>

#include "compiler/ops/op_def.h"

namespace attune::ops {

std::vector<OpDef> arithmetic_operators();
std::vector<OpDef> view_operators();

}  // namespace attune::ops
