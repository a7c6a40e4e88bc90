// The interpreter of launches: the meaning of kernels with bound loops, and a judge of them. The
// threads of a block run statement by statement side by side, those a condition leaves out standing
// aside; blocks run one after the other. Shadow memory finds accesses whose order the kernel does
// not fix, whatever order they happen to run in here. A Meter may watch what warps (groups of
// neighbouring threads that run in step) do, to count what it costs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "compiler/ir/interpret/findings.h"
#include "compiler/ir/interpret/statement_code.h"
#include "compiler/ir/nodes/array.h"
#include "compiler/ir/nodes/launch.h"

namespace attune::ir {

// What the device has.
struct LaunchLimits {
  std::int64_t threads_per_block = 1024;
  std::int64_t shared_bytes = 48 << 10;
  std::int64_t register_bytes = 1020;   // of a thread
  std::int64_t stack_bytes = 64 << 10;  // of a thread
};

// The places that the threads of a warp touched by one access of a statement.
struct Touched {
  const BufferNode* buffer = nullptr;
  bool write = false;
  bool asynchronous = false;  // nobody waits for it here
  std::vector<std::int64_t> positions;
};

// Hears what happens in launches, in order.
class Meter {
 public:
  virtual ~Meter() = default;
  virtual void begin_launch(const Launch& launch) = 0;
  virtual void begin_block() = 0;
  // One statement by the threads of a warp that take part; `cycles` are those of an intrinsic.
  virtual void step(int warp, const Work& work, std::span<const Touched> touched,
                    std::int64_t cycles) = 0;
  virtual void barrier() = 0;
  // A warp closes a group of asynchronous copies, or waits for all but its newest ones.
  virtual void commit(int warp) = 0;
  virtual void wait(int warp, std::int64_t groups) = 0;
  virtual void end_block() = 0;
  virtual void end_launch() = 0;
};

struct LaunchOptions {
  LaunchLimits limits;
  int warp = 32;  // threads
  Meter* meter = nullptr;
  // The statements of all threads together; a kernel with more ends in ErrorCode::Exhausted. 0: no
  // limit.
  std::int64_t most_steps = 0;
};

// Runs a kernel on its parameters, in place; `initialised` as for interpret(). A kernel that is not
// well formed is an error; findings are what is wrong with one that is. The run ends at the first
// access out of bounds or of memory that nobody wrote; the parameters are as it left them.
Result<std::vector<Finding>> run_launches(const Kernel& kernel, std::vector<Array>& buffers,
                                          int initialised = -1, const LaunchOptions& options = {});

}  // namespace attune::ir
