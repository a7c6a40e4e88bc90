// Steps: the vocabulary of schedules, plain data. A step names its stage by role and its loops by
// name; what it does to a State is in the file of the primitive (split.cpp, fuse.cpp, …). Each step
// lists its fields once, in the order of its text form; printing, parsing, JSON and hashing follow.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "compiler/schedule/launch_steps.h"

namespace attune::schedule {

using Names = std::vector<std::string>;
using Numbers = std::vector<std::int64_t>;

// Replaces the program by an equivalent one (Winograd, implicit GEMM …); only as the first step.
// The replacement is made by whoever holds the operator; replay receives the replaced program.
struct Algorithm {
  static constexpr const char* kName = "algorithm";
  std::string name;
  template <typename V>
  void fields(V&& v) {
    v("name", name);
  }
};
// loop -> loop.0 … loop.n with the given inner extents; the outermost extent is what is needed, and
// the last iteration may be partial.
struct Split {
  static constexpr const char* kName = "split";
  std::string stage, loop;
  Numbers factors;
  template <typename V>
  void fields(V&& v) {
    v("stage", stage), v("loop", loop), v("factors", factors);
  }
};
// Adjacent loops -> one loop named a*b*…
struct Fuse {
  static constexpr const char* kName = "fuse";
  std::string stage;
  Names loops;
  template <typename V>
  void fields(V&& v) {
    v("stage", stage), v("loops", loops);
  }
};
// The named loops take, in the given order, the places that they hold now.
struct Reorder {
  static constexpr const char* kName = "reorder";
  std::string stage;
  Names loops;
  template <typename V>
  void fields(V&& v) {
    v("stage", stage), v("loops", loops);
  }
};
// Splits two loops once each and orders them x.0 y.0 x.1 y.1.
struct Tile {
  static constexpr const char* kName = "tile";
  std::string stage, x, y;
  std::int64_t x_factor = 1, y_factor = 1;
  template <typename V>
  void fields(V&& v) {
    v("stage", stage), v("x", x), v("y", y), v("x_factor", x_factor), v("y_factor", y_factor);
  }
};
struct Parallel {
  static constexpr const char* kName = "parallel";
  std::string stage, loop;
  template <typename V>
  void fields(V&& v) {
    v("stage", stage), v("loop", loop);
  }
};
struct Vectorize {
  static constexpr const char* kName = "vectorize";
  std::string stage, loop;
  template <typename V>
  void fields(V&& v) {
    v("stage", stage), v("loop", loop);
  }
};
struct Unroll {
  static constexpr const char* kName = "unroll";
  std::string stage, loop;
  template <typename V>
  void fields(V&& v) {
    v("stage", stage), v("loop", loop);
  }
};
// Computes `stage` inside `loop` of `consumer`, only the part that one iteration needs.
struct ComputeAt {
  static constexpr const char* kName = "compute_at";
  std::string stage, consumer, loop;
  template <typename V>
  void fields(V&& v) {
    v("stage", stage), v("consumer", consumer), v("loop", loop);
  }
};
// Substitutes a stage without reduction into its consumers; the stage is gone.
struct Inline {
  static constexpr const char* kName = "inline";
  std::string stage;
  template <typename V>
  void fields(V&& v) {
    v("stage", stage);
  }
};
// Back to computing the whole stage before its consumers.
struct Root {
  static constexpr const char* kName = "root";
  std::string stage;
  template <typename V>
  void fields(V&& v) {
    v("stage", stage);
  }
};
// A copy `cache.TENSOR` of an input or stage, read by `consumer` instead of the original.
struct CacheRead {
  static constexpr const char* kName = "cache_read";
  std::string tensor, consumer;
  template <typename V>
  void fields(V&& v) {
    v("tensor", tensor), v("consumer", consumer);
  }
};
// The computation moves to `cache.STAGE`; the stage itself becomes a copy of it.
struct CacheWrite {
  static constexpr const char* kName = "cache_write";
  std::string stage;
  template <typename V>
  void fields(V&& v) {
    v("stage", stage);
  }
};
// Partial reductions: `rf.STAGE` reduces over all reduction loops but `loop`, which becomes its
// last axis; the stage itself reduces over that axis.
struct Rfactor {
  static constexpr const char* kName = "rfactor";
  std::string stage, loop;
  template <typename V>
  void fields(V&& v) {
    v("stage", stage), v("loop", loop);
  }
};
// global, stack, register, or shared by the threads of a block.
struct SetScope {
  static constexpr const char* kName = "set_scope";
  std::string stage, scope;
  template <typename V>
  void fields(V&& v) {
    v("stage", stage), v("scope", scope);
  }
};
// Storage of a private buffer: one term per dimension in memory, outermost first, each AXIS,
// AXIS/D, AXIS%M or AXIS/D%M of the stage's axes.
struct Layout {
  static constexpr const char* kName = "layout";
  std::string stage;
  Names terms;
  template <typename V>
  void fields(V&& v) {
    v("stage", stage), v("terms", terms);
  }
};
// A hint for lowering on a loop, or on the whole stage with loop "*".
struct Annotate {
  static constexpr const char* kName = "annotate";
  std::string stage, loop, key, value;
  template <typename V>
  void fields(V&& v) {
    v("stage", stage), v("loop", loop), v("key", key), v("value", value);
  }
};

using Step = std::variant<Algorithm, Split, Fuse, Reorder, Tile, Parallel, Vectorize, Unroll,
                          ComputeAt, Inline, Root, CacheRead, CacheWrite, Rfactor, SetScope, Layout,
                          Annotate, Bind, StorageAlign, Tensorize>;

}  // namespace attune::schedule
