#include "tuner/measure/builder/prepare_cache.h"

#include <utility>

namespace attune::builder {
namespace {

std::size_t bytes_of(const measure::KernelCode& code) {
  constexpr std::size_t kKeeping = 256;  // names, parameters and the entry itself
  return kKeeping + (code.object ? code.object->size() : 0);
}

}  // namespace

PrepareCache::Code PrepareCache::touch(std::list<Code>::iterator place) {
  codes_.splice(codes_.begin(), codes_, place);
  return codes_.front();
}

PrepareCache::Code PrepareCache::find(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : touch(found->second);
}

PrepareCache::Code PrepareCache::add(Code code) {
  const std::lock_guard lock(mutex_);
  if (const auto known = by_id_.find(code->id); known != by_id_.end()) return touch(known->second);
  codes_.push_front(std::move(code));
  by_id_.emplace(codes_.front()->id, codes_.begin());
  bytes_ += bytes_of(*codes_.front());
  while (bytes_ > most_bytes_ && codes_.size() > 1) {
    bytes_ -= bytes_of(*codes_.back());
    by_id_.erase(codes_.back()->id);
    codes_.pop_back();
  }
  return codes_.front();
}

std::size_t PrepareCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace attune::builder
