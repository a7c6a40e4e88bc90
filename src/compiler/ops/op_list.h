// The operators of one family each, one function per file; op_list.cpp puts them together.
#pragma once

#include <vector>

#include "compiler/ops/op_def.h"

namespace attune::ops {

std::vector<OpDef> arithmetic_operators();
std::vector<OpDef> view_operators();
std::vector<OpDef> comparison_operators();
std::vector<OpDef> activation_operators();
std::vector<OpDef> conversion_operators();
std::vector<OpDef> reduction_operators();
std::vector<OpDef> row_operators();
std::vector<OpDef> normalisation_operators();
std::vector<OpDef> product_operators();
std::vector<OpDef> linear_algebra_operators();
std::vector<OpDef> movement_operators();
std::vector<OpDef> gather_operators();
std::vector<OpDef> padding_operators();
std::vector<OpDef> selection_operators();
std::vector<OpDef> resample_operators();
std::vector<OpDef> resize_table_operators();
std::vector<OpDef> convolution_operators();
std::vector<OpDef> pooling_operators();
std::vector<OpDef> grid_sample_operators();
std::vector<OpDef> region_operators();
std::vector<OpDef> column_operators();
std::vector<OpDef> data_dependent_operators();
std::vector<OpDef> control_operators();

}  // namespace attune::ops
