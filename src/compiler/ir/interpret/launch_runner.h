// The inside of launches.h: one run of a kernel's launches. What stands around launches and the
// enumeration of blocks are in launches.cpp, the statements of a block's threads in
// thread_steps.cpp, and what is watched of their accesses in watch_accesses.cpp.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "compiler/ir/interpret/async_copies.h"
#include "compiler/ir/interpret/bulk_copies.h"
#include "compiler/ir/interpret/launches.h"
#include "compiler/ir/interpret/matrices.h"
#include "compiler/ir/interpret/shadow.h"

namespace attune::ir {

// The numbers of the threads that take part.
using Threads = std::vector<int>;

class LaunchRunner : public Watch {
 public:
  LaunchRunner(std::vector<Launch> launches, const LaunchOptions& options, Findings& findings,
               std::optional<Error>& failure)
      : launches_(std::move(launches)), options_(options), findings_(findings), failure_(failure) {}

  // Whether the kernel has instructions of warpgroups.
  void watch_matrices(bool any) { matrices_.watch(any); }
  // Runs what stands around launches, and the launches.
  void host(const Code& code, Frame& frame);

  void on_read(Frame& frame, const Access& access, std::int64_t position) override;
  void on_write(Frame& frame, const Access& access, std::int64_t position, Value value) override;
  void on_copy(Frame& frame, const Access& access, std::int64_t position, Value value) override;
  void on_commit(Frame& frame) override;
  void on_wait(Frame& frame, std::int64_t groups) override;
  void on_fence(Frame& frame) override;
  void on_fault(Frame& frame, const Access& access, std::int64_t position, Fault fault,
                const std::string& message) override;

 private:
  // The bound loops of a launch, and the memory that is allocated among them.
  struct Front {
    std::vector<const Code*> codes;
    const Code* body = nullptr;
  };
  static Front front_of(const Code& code);
  bool within_limits(const Launch& launch);
  void launch(const Code& code, const Frame& frame);
  void run_block(const Front& front, const Frame& base, std::size_t at);
  void make_threads(const Front& front, const Frame& base, std::size_t at);

  void run(const Code& code, const Threads& threads);
  void loop(const LoopCode& x, const Work& work, const Threads& threads);
  void branch(const BranchCode& x, const Work& work, const Threads& threads);
  void allocate(const AllocateCode& x, const Threads& threads);
  void barrier(const Threads& threads);
  void evaluate(const EvaluateCode& x, const Work& work, const Threads& threads);
  // An intrinsic that the lanes of each warp run together.
  void by_warps(const TensorCall& call, const Work& work, const Threads& threads);
  void asynchronous(const AsyncCall& call, const Work& work, const Threads& threads);
  void find_unwaited();
  // Bulk copies: bulk_steps.cpp.
  void bulk(const BulkCall& call, const Work& work, const Threads& threads);
  void bulk_copy(const BulkCall& call, BulkCopies::Counter& counter, Frame& frame);
  void bulk_wait(const BulkCall& call, BulkCopies::Counter& counter, Frame& frame, std::int64_t at);
  void check_observed(const Frame& frame, const Access& access, const Shadow& shadow,
                      std::int64_t position);
  void find_unwaited_bulk();
  // Instructions of warpgroups, and what orders them: matrix_steps.cpp.
  void by_warpgroups(const MatrixCall& call, const Work& work, const Threads& threads);
  void order_matrices(const AsyncCall& call, const Work& work, const Threads& threads);
  void each_warpgroup(const Threads& threads, std::string_view name,
                      const std::function<void(int, const std::vector<Frame*>&)>& run_one);
  void check_ready(const MatrixCall& call, const std::vector<Frame*>& lanes,
                   const std::vector<MatrixCall::Read>& reads);
  void check_registers(Frame& frame, const Access& access, const char* does);
  void note_fences(const Memory& memory, std::int64_t position, int thread);
  void find_unwaited_matrices();
  // Runs one statement for each of the threads, warp by warp.
  void each(const Threads& threads, const Work& work, const std::function<void(Frame&)>& run_one,
            std::int64_t cycles = 0);
  void touch(const Access& access, std::int64_t position, bool write);

  std::vector<Launch> launches_;
  const LaunchOptions& options_;
  Findings& findings_;
  std::optional<Error>& failure_;
  std::size_t next_launch_ = 0;
  std::int64_t steps_ = 0;
  Moment now_;
  std::vector<Frame> frames_;                    // one per thread of the block
  std::vector<std::shared_ptr<Memory>> shared_;  // of the block, by slot
  AsyncCopies copies_;                           // of the block
  Matrices matrices_;                            // of the block
  BulkCopies bulk_;                              // of the block
  std::int64_t cluster_phase_ = 0;               // that the last barrier of the cluster began
  bool asynchronous_ = false;                    // the present statement is
  std::vector<Touched> touched_;                 // by the warp in its present statement
  std::vector<const Access*> touched_by_;
  std::size_t touched_count_ = 0;
};

// With a shadow, if several threads can reach it.
std::shared_ptr<Memory> new_memory(const BufferNode& buffer, bool watched);

}  // namespace attune::ir
