// A call of an asynchronous intrinsic by one thread: a copy, the end of a group of them, or waiting
// for groups. Watched threads hand them to their watch; elsewhere a copy happens at once. Also what
// orders instructions of warpgroups, which only launches have.
#pragma once

#include "compiler/ir/interpret/evaluate.h"

namespace attune::ir {

class AsyncCall {
 public:
  enum class Kind : std::uint8_t {
    Copy,
    Commit,
    Wait,
    MatrixFence,
    MatrixCommit,
    MatrixWait,
    SharedFence
  };

  static bool is_async(const Opaque& call);
  // The call must have the arguments that the intrinsic asks for.
  static Result<AsyncCall> compile(const Opaque& call, Evaluator& evaluator);
  void run(Frame& frame) const;
  Kind kind() const { return kind_; }
  bool by_warpgroups() const {
    return kind_ == Kind::MatrixFence || kind_ == Kind::MatrixCommit || kind_ == Kind::MatrixWait;
  }
  std::int64_t groups() const { return count_; }  // that a wait leaves under way

 private:
  void copy(Frame& frame) const;
  // The position of the first element, or -1 after a failure.
  std::int64_t locate(const Access& access, Frame& frame, const char* action) const;
  Value read(Frame& frame, std::int64_t position) const;

  Kind kind_ = Kind::Commit;
  const Access* to_ = nullptr;
  const Access* from_ = nullptr;
  const Node* valid_ = nullptr;
  std::int64_t count_ = 0;  // elements of a copy, or groups of a wait
};

}  // namespace attune::ir
