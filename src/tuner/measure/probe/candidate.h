// What is handed to the measuring child and what comes back: candidates with their buffers, how to
// time them, and the outcomes with the state of the machine meanwhile. Plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/memory/dtype.h"
#include "tuner/outcome/outcome.h"

namespace attune::probe {

using Bytes = std::shared_ptr<const std::vector<std::byte>>;

enum class Role : std::uint8_t {
  Input,     // read-only for the kernel, the same from call to call
  Constant,  // read-only weights
  Output,    // written by every call
};

struct Buffer {
  runtime::DType type = runtime::DType::F32;
  std::int64_t elements = 0;
  Role role = Role::Input;
  // Exact contents of an input or constant; null: runtime::fill(seed, fill_index).
  Bytes contents = nullptr;
  // The buffer number for the fill; -1: its position among the candidate's buffers.
  int fill_index = -1;
  // Cold weights: calls rotate through copies that exceed the caches.
  bool rotate = false;
  // A constant that the candidate's preparation writes: which of its outputs; -1: none.
  int prepared = -1;
};

// A kernel that computes constants ahead of time. The measuring process runs it once and keeps what
// it wrote for all candidates whose preparations have the same id.
struct Preparation {
  std::uint64_t id = 0;  // with equal ids and seeds the outputs are equal
  Bytes object = nullptr;
  std::string symbol = {};
  std::vector<Buffer> buffers = {};
  std::int64_t workspace_bytes = 0;
};

// One element of an output that must come out near `expected`.
struct Sample {
  int buffer = 0;
  std::int64_t index = 0;
  double expected = 0.0;
};

// |actual - expected| <= absolute + relative * |expected| for each sample.
struct Verification {
  std::vector<Sample> samples = {};
  double absolute_tolerance = 0.0;
  double relative_tolerance = 0.0;
  // What must come out, after all timed calls, of inputs that the kernel has not seen: those of
  // another seed. Empty: that is not looked at.
  std::uint64_t fresh_seed = 0;
  std::vector<Sample> fresh = {};
};

struct Candidate {
  Bytes object = nullptr;   // code that the device loads
  std::string symbol = {};  // of its kernel
  std::vector<Buffer> buffers = {};
  std::int64_t workspace_bytes = 0;
  int threads = 1;
  std::uint64_t seed = 0;
  std::shared_ptr<const Preparation> preparation = nullptr;
  Verification verification = {};
  bool return_outputs = false;
  // The best time known for the same task, 0 if none: what is far slower stops early.
  double best_known_us = 0.0;
};

// How long candidates are timed is for those who ask to say: measure::RunOptions, as a rule.
struct MeasureOptions {
  double repeat_us = 0;    // a repeat is as many calls as take about this long
  double budget_us = 0;    // repeats stop when they have used this up,
  int min_repeats = 3;     // but not before so many,
  int max_repeats = 100;   // and at the latest after so many
  double cut_ratio = 3.0;  // stop after one repeat at this many times best_known_us
  double timeout_ms = 0;   // for the calls of one candidate, from when they begin
  std::int64_t memory_limit_bytes = std::int64_t{1} << 30;  // what a kernel may allocate itself
  std::int64_t rotate_bytes = std::int64_t{96} << 20;  // size of the copies of rotating buffers
  bool remeasure_on_drift = true;                      // once, when the sentinel moved
};

struct InterleaveOptions {
  MeasureOptions measure = {};
  int rounds = 10;          // one repeat of each candidate per round
  double round_gap_ms = 0;  // pause between rounds, to spread them over the machine's moods
};

// Times of the fixed built-in loops; larger means that the machine was slower.
struct SentinelReading {
  double compute_us = 0.0;
  double memory_us = 0.0;
};

struct Measured {
  outcome::Outcome outcome;
  // With return_outputs and a timing: the bytes of each output buffer, in order; else empty.
  std::vector<std::vector<std::byte>> outputs;
};

struct Batch {
  std::vector<Measured> candidates;  // as many as asked for, in the same order
  SentinelReading before = {};
  SentinelReading after = {};
  double drift = 0.0;  // largest relative change of a sentinel time over the batch
  bool noisy = false;  // the drift stayed above the machine's own noise
};

}  // namespace attune::probe
