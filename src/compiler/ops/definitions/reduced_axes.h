// Which dimensions of a tensor a reduction keeps and which it takes away, as axes of stages.
#pragma once

#include <vector>

#include "compiler/ops/op_def.h"

namespace attune::ops {

class ReducedAxes {
 public:
  // With `keep` the dimensions that are reduced stay, with extent 1.
  ReducedAxes(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& axes,
              bool keep);

  const std::vector<ir::Axis>& kept() const { return kept_; }        // of the result: d0, d1, …
  const std::vector<ir::Axis>& reduced() const { return reduced_; }  // r0, r1, …; at least one
  // The index of the result, and that of the element of the input that is reduced into it.
  const std::vector<ir::Expr>& kept_index() const { return kept_index_; }
  const std::vector<ir::Expr>& input_index() const { return input_index_; }
  std::int64_t count() const { return count_; }  // elements per result

 private:
  std::vector<ir::Axis> kept_, reduced_;
  std::vector<ir::Expr> kept_index_, input_index_;
  std::int64_t count_ = 1;
};

// Input 0 has all these dimensions.
Status check_axes(const OpCall& call, const std::vector<std::int64_t>& axes);
// The type of input 0 after the reduction. Fails where a size that depends on data is reduced, and
// where nothing would be reduced into a result.
Result<TensorType> reduced_type(const OpCall& call, const std::vector<std::int64_t>& axes,
                                bool keep);

}  // namespace attune::ops
