// One measurement in shared memory, in three parts, by who may be believed. The request (candidates
// and options) is sealed: nobody can change it any more. The replies are what the worker says and
// how far it is; foreign code runs in the worker, so that anything may stand there. The verdicts
// are what the server makes of it, in memory that the worker never sees. All three processes are
// forks of one program, so plain structs serve.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tuner/measure/probe/candidate.h"
#include "tuner/measure/probe/guarded_buffer.h"
#include "tuner/measure/probe/report.h"
#include "tuner/measure/probe/shared_region.h"

namespace attune::probe {

// Written by the signal handler of a dying worker.
struct Fault {
  int signal = 0;  // 0: none
  int call = 0;    // with SIGSYS: the system call
  bool write = false;
  bool has_address = false;
  Place place = Place::Elsewhere;
  int buffer = 0;  // when place is not Elsewhere; kWorkspaceBuffer for the workspace
  std::uint64_t address = 0;
};
inline constexpr int kWorkspaceBuffer = -1;

struct Progress {
  std::atomic<std::uint32_t> candidate{0};
  std::atomic<outcome::Phase> phase{outcome::Phase::Load};
  std::atomic<std::int64_t> since_ns{0};
  std::atomic<bool> preparing{false};  // the kernel that runs is the preparation
  Fault fault = {};
};

struct RequestHeader {
  std::uint32_t candidate_count = 0;
  MeasureOptions options = {};
  int rounds = 0;  // 0: one after the other
  double round_gap_ms = 0.0;
  std::uint64_t candidates_offset = 0;
};

// What is said of one candidate: where that stands among replies and verdicts, and what it needs.
struct AnswerPlace {
  // Of the sampled elements: after the first call, at the end, and of fresh inputs.
  std::uint64_t values_offset = 0;
  std::uint64_t samples = 0;
  std::uint64_t fresh_samples = 0;
  std::uint64_t outputs_offset = 0;
  std::uint64_t output_bytes = 0;
  std::uint64_t buffer_bytes = 0;  // that are mapped for it
  int threads = 1;
};

// A candidate's kernel, or the one that prepares its constants, as the worker reads it: `facts` has
// no object, no contents and no expected values, the spans have the first two.
struct KernelMessage {
  Candidate facts;
  std::span<const std::byte> object;
  std::vector<std::span<const std::byte>> contents;  // one per buffer, empty: fill
  std::shared_ptr<const KernelMessage> preparation;  // null: none
  std::uint64_t preparation_id = 0;
};

// Replies or verdicts.
class Answers {
 public:
  struct Header {
    SentinelReading before = {};
    SentinelReading after = {};
    Progress progress = {};
  };

  Answers(SharedRegion region, std::span<const AnswerPlace> places)
      : region_(std::move(region)), places_(places) {}

  int descriptor() const { return region_.descriptor(); }
  void close_descriptor() { region_.close_descriptor(); }
  Header& header() const { return *reinterpret_cast<Header*>(region_.data()); }
  Report& report(std::size_t k) const;
  enum class When { First, Last, Fresh };
  std::span<double> values(std::size_t k, When when) const;
  std::span<std::byte> outputs(std::size_t k) const;

 private:
  SharedRegion region_;
  std::span<const AnswerPlace> places_;
};

class Exchange {
 public:
  static Result<Exchange> create(std::span<const Candidate> candidates,
                                 const InterleaveOptions& options, bool interleaved);
  // Without verdicts: for the worker.
  static Result<Exchange> attach(Descriptor requests, Descriptor replies, Descriptor verdicts = {});

  std::vector<int> descriptors(bool with_verdicts) const;
  const RequestHeader& header() const {
    return *reinterpret_cast<const RequestHeader*>(requests_.data());
  }
  std::size_t size() const { return header().candidate_count; }
  std::span<const AnswerPlace> places() const;
  std::vector<KernelMessage> candidates() const;
  const Answers& replies() const { return replies_.front(); }
  const Answers& verdicts() const { return replies_.back(); }
  // No descriptor of it stays open; the memory does.
  void close_descriptors();

 private:
  explicit Exchange(SharedRegion requests) : requests_(std::move(requests)) {}
  SharedRegion requests_;
  std::vector<Answers> replies_;  // and, but in the worker, the verdicts
};

}  // namespace attune::probe
