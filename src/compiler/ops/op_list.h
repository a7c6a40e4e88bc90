// The operators of one family each, one function per file; op_list.cpp puts them together.
#pragma once

#include <vector>

#include "compiler/ops/op_def.h"

namespace attune::ops {

#define ATTUNE_OPERATORS(name) std::vector<OpDef> name##_operators();
#include "compiler/ops/list.inc"

}  // namespace attune::ops
