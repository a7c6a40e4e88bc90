// Between tensors as people know them and as an operator takes them: blocked activations appear as
// [n, c, h, w], everything else as it is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/ir/expr.h"
#include "compiler/ops/operator.h"
#include "runtime/tensor.h"

namespace attune::api {

class PlainView {
 public:
  // Of the parameter `buffer` of an operator with these blocked parameters.
  PlainView(const ir::Buffer& buffer, const std::vector<ops::BlockedTensor>& blocked);

  const std::vector<std::int64_t>& shape() const { return shape_; }
  // `plain` must have shape() and the type of `into`, which has the operator's layout; f32 becomes
  // bf16. `name` and `path` are for messages.
  Status load(const runtime::Tensor& plain, runtime::Tensor& into, const std::string& name,
              const std::string& path) const;
  Result<runtime::Tensor> store(const runtime::Tensor& from) const;

 private:
  std::vector<std::int64_t> operator_shape_, shape_;
  std::int64_t channels_ = 0;  // 0: not blocked
};

}  // namespace attune::api
