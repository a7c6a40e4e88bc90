// Memory that several processes map, whose size nobody can change: a process that shrank it would
// end all others that read there.
#pragma once

#include <cstddef>
#include <utility>

#include "base/result.h"
#include "tuner/measure/probe/channel.h"

namespace attune::probe {

class SharedRegion {
 public:
  enum class Use { Written, ReadOnlySoon };
  // Zeroed, writable, of that size for good.
  static Result<SharedRegion> create(const char* name, std::size_t bytes, Use use);
  static Result<SharedRegion> attach(Descriptor descriptor, bool writable);

  SharedRegion(SharedRegion&& other) noexcept { *this = std::move(other); }
  SharedRegion& operator=(SharedRegion&& other) noexcept;
  SharedRegion(const SharedRegion&) = delete;
  SharedRegion& operator=(const SharedRegion&) = delete;
  ~SharedRegion();

  // Of one that was created for it: from now on nobody can write to it, this process included.
  Status make_read_only();

  int descriptor() const { return descriptor_.number(); }
  std::byte* data() const { return base_; }
  std::size_t bytes() const { return bytes_; }
  void close_descriptor() { descriptor_ = Descriptor(); }

 private:
  SharedRegion() = default;
  Status map(bool writable);
  Descriptor descriptor_;
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace attune::probe
