#include "compiler/ops/family.h"

#include "base/check.h"
#include "compiler/ops/conv2d.h"
#include "compiler/ops/depthwise.h"
#include "compiler/ops/matmul.h"

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
      matmul_family(), dense_family(), batch_matmul_family(), conv2d_family(), depthwise_family(),
  };
  return all;
}

}  // namespace attune::ops
