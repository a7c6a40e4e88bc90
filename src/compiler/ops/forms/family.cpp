#include "compiler/ops/forms/family.h"

#include "base/check.h"
#include "compiler/ops/forms/conv2d.h"
#include "compiler/ops/forms/conv2d_transpose.h"
#include "compiler/ops/forms/depthwise.h"
#include "compiler/ops/forms/elementwise.h"
#include "compiler/ops/forms/layernorm.h"
#include "compiler/ops/forms/matmul.h"
#include "compiler/ops/forms/pool.h"
#include "compiler/ops/forms/reduce.h"
#include "compiler/ops/forms/softmax.h"
#include "compiler/ops/forms/transpose.h"

namespace attune::ops {

std::int64_t Arguments::number(std::string_view key) const {
  const auto found = numbers.find(key);
  CHECK(found != numbers.end(), "a value for key " + std::string(key));
  return found->second;
}

const std::string& Arguments::word(std::string_view key) const {
  const auto found = words.find(key);
  CHECK(found != words.end(), "a value for key " + std::string(key));
  return found->second;
}

std::span<const Family> families() {
  static const std::vector<Family> all{
      matmul_family(),    dense_family(),     batch_matmul_family(),
      conv2d_family(),    depthwise_family(), conv2d_transpose_family(),
      maxpool_family(),   avgpool_family(),   softmax_family(),
      layernorm_family(), reduce_family(),    elementwise_family(),
      transpose_family(),
  };
  return all;
}

}  // namespace attune::ops
