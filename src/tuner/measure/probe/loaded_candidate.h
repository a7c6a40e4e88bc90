// A candidate ready to run inside the worker: its code loaded, its buffers mapped and filled.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/execution/device.h"
#include "runtime/execution/thread_pool.h"
#include "tuner/measure/probe/buffer_store.h"
#include "tuner/measure/probe/crash_watch.h"
#include "tuner/measure/probe/exchange.h"
#include "tuner/measure/probe/verification.h"

namespace attune::probe {

class LoadedCandidate {
 public:
  // `view` and `store` must outlive it. `outputs`: slots of another candidate that its outputs are
  // written to, in order; its own when empty.
  LoadedCandidate(const KernelMessage& view, BufferStore& store,
                  std::vector<BufferStore::Slot*> outputs = {});
  ~LoadedCandidate();
  LoadedCandidate(const LoadedCandidate&) = delete;
  LoadedCandidate& operator=(const LoadedCandidate&) = delete;

  const Candidate& facts() const { return view_.facts; }
  bool rotates() const { return pointers_.size() > 1; }

  Status load_code(runtime::Device& device);
  Status prepare_buffers(std::int64_t rotate_bytes);
  // What its preparation writes, in order, when that has to run; else empty. `seal_prepared` when
  // it did.
  std::vector<BufferStore::Slot*> unprepared() const;
  void seal_prepared();
  // From now on its inputs are those that its calls have not seen.
  void take_fresh_inputs();
  // Whether what it may only read is not what it was given any more.
  bool changed_inputs() const;
  // So that an output that is never written cannot pass for right, where anybody looks at it.
  void poison_outputs();

  // Calls the kernel so many times, or until a call fails; rotating buffers move on with each.
  Status call(runtime::ThreadPool& pool, std::int64_t count);

  std::span<const WatchedBuffer> watched() const { return watched_; }
  // "wrote past the end of buffer 2" when a canary is damaged.
  std::optional<std::string> bounds_damage() const;
  // What stands at the samples of its verification.
  void read_samples(Answers::When when, std::span<double> values) const;
  // The output buffers one after the other, each from a multiple of 64 bytes.
  void copy_outputs(std::byte* to) const;

 private:
  Status acquire(const SlotNeed& need, int number);
  // How buffer i is made, if that is not an output.
  SlotNeed read_only_need(std::size_t i, std::int64_t copies) const;
  Status prepare_fresh_inputs();
  void borrow(BufferStore::Slot* slot, int number);
  std::vector<BufferStore::Slot*> prepared() const;
  std::int64_t copies_for(std::int64_t rotate_bytes) const;
  void lay_out_pointers(std::int64_t copies);

  const KernelMessage& view_;
  BufferStore& store_;
  runtime::Device* device_ = nullptr;
  std::unique_ptr<runtime::LoadedCode> code_;
  runtime::KernelHandle kernel_ = nullptr;
  std::vector<BufferStore::Slot*> outputs_;  // borrowed
  std::vector<BufferStore::Slot*> slots_;    // one per buffer, then the workspace if there is one
  std::vector<BufferStore::Slot*> fresh_;    // one per buffer, null where they are the same
  std::vector<WatchedBuffer> watched_;
  std::vector<std::vector<void*>> pointers_;  // arguments of call k at k modulo the size
  std::size_t next_ = 0;
};

}  // namespace attune::probe
