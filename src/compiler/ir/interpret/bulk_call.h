// A call about bulk copies by one thread: counters are made ready, a copy sets out, the thread
// waits for one; or the blocks of a cluster meet. The interpreter of launches runs it.
#pragma once

#include "compiler/ir/interpret/evaluate.h"

namespace attune::ir {

class BulkCall {
 public:
  enum class Kind : std::uint8_t { Init, Copy, Wait, ClusterBarrier };

  static bool is_bulk(const Opaque& call);
  static Result<BulkCall> compile(const Opaque& call, Evaluator& evaluator);

  Kind kind() const { return kind_; }
  // How many counters are made ready, or elements copied, or blocks meet.
  std::int64_t count() const { return count_; }
  std::int64_t blocks() const { return blocks_; }  // that a copy is for
  const Access& counter() const { return *counter_; }
  const Access& to() const { return *to_; }
  const Access& from() const { return *from_; }
  std::int64_t parity(Frame& frame) const { return parity_->run(frame, 0).i; }
  // The first element of an access of `elements`; -1 after a failure.
  static std::int64_t locate(const Access& access, Frame& frame, std::int64_t elements,
                             const char* action);

 private:
  Kind kind_ = Kind::Init;
  const Access* counter_ = nullptr;
  const Access* to_ = nullptr;
  const Access* from_ = nullptr;
  const Node* parity_ = nullptr;
  std::int64_t count_ = 0, blocks_ = 1;
};

}  // namespace attune::ir
