#include "compiler/ops/op_list.h"

namespace attune::ops {

std::span<const OpDef> operators() {
  static const std::vector<OpDef> all = [] {
    std::vector<OpDef> list;
    // clang-format off
    for (const auto family : {
             arithmetic_operators,  view_operators,
             comparison_operators,  activation_operators,
             conversion_operators,  reduction_operators,
             row_operators,         normalisation_operators,
             product_operators,     linear_algebra_operators,
             movement_operators,    gather_operators,
             padding_operators,     selection_operators,
             resample_operators,    resize_table_operators,
             convolution_operators, pooling_operators,
             grid_sample_operators, region_operators,
             column_operators,      data_dependent_operators,
             control_operators,
         }) {
      // clang-format on
      for (const OpDef& def : family()) list.push_back(def);
    }
    return list;
  }();
  return all;
}

}  // namespace attune::ops
