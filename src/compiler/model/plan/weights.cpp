#include "compiler/model/plan/weights.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/hash.h"

namespace attune::model {
namespace {

// Of the size and of samples: equal bytes have equal hashes, and large constants cost nothing.
std::uint64_t sample_hash(std::span<const std::byte> bytes) {
  constexpr std::size_t kPieces = 64;
  constexpr std::size_t kPieceBytes = 32;
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  std::uint64_t hash = bytes.size();
  if (bytes.size() <= kPieces * kPieceBytes) return hash_bytes({text, bytes.size()}, hash);
  const std::size_t step = (bytes.size() - kPieceBytes) / (kPieces - 1);
  for (std::size_t i = 0; i < kPieces; ++i) hash = hash_bytes({text + i * step, kPieceBytes}, hash);
  return hash;
}

}  // namespace

std::int64_t Weights::add(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  std::vector<std::size_t>& similar = by_hash_[sample_hash(bytes)];
  for (const std::size_t i : similar) {
    const auto& known = pieces_[i].bytes;
    if (known.size() == bytes.size() &&
        (known.data() == bytes.data() ||
         std::memcmp(known.data(), bytes.data(), bytes.size()) == 0)) {
      return pieces_[i].offset;
    }
  }
  similar.push_back(pieces_.size());
  const std::int64_t offset = bytes_;
  pieces_.push_back({offset, bytes});
  owners_.push_back(std::move(owner));
  bytes_ += (static_cast<std::int64_t>(bytes.size()) + 63) / 64 * 64;
  return offset;
}

}  // namespace attune::model
