// The weights of an artifact: constants by offset, equal ones once.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "compiler/ops/tensor_type.h"
#include "runtime/format/artifact.h"

namespace attune::model {

class Weights {
 public:
  // The offset of these bytes; `owner` keeps them until the artifact is written.
  std::int64_t add(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
  std::int64_t bytes() const { return bytes_; }
  const std::vector<runtime::WeightPiece>& pieces() const { return pieces_; }

 private:
  std::vector<runtime::WeightPiece> pieces_;
  std::vector<std::shared_ptr<const void>> owners_;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> by_hash_;
  std::int64_t bytes_ = 0;
};

}  // namespace attune::model
