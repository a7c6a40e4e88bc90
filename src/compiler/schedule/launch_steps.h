// Steps for devices with blocks, threads and instructions on tiles.
#pragma once

#include <cstdint>
#include <string>

namespace attune::schedule {

// A loop over hardware: block.x, block.y, block.z, thread.x, thread.y or thread.z. Blocks run
// independently of each other, the threads of a block share memory and meet at barriers.
struct Bind {
  static constexpr const char* kName = "bind";
  std::string stage, loop, axis;
  template <typename V>
  void fields(V&& v) {
    v("stage", stage), v("loop", loop), v("axis", axis);
  }
};
// Rows (the innermost dimension in memory) are padded to a length that is `offset` modulo `factor`,
// so that a column does not lie in one memory bank.
struct StorageAlign {
  static constexpr const char* kName = "storage_align";
  std::string stage;
  std::int64_t factor = 1, offset = 0;
  template <typename V>
  void fields(V&& v) {
    v("stage", stage), v("factor", factor), v("offset", offset);
  }
};
// The loops from `loop` inwards become calls of a tensor intrinsic of the device.
struct Tensorize {
  static constexpr const char* kName = "tensorize";
  std::string stage, loop, intrinsic;
  template <typename V>
  void fields(V&& v) {
    v("stage", stage), v("loop", loop), v("intrinsic", intrinsic);
  }
};

}  // namespace attune::schedule
