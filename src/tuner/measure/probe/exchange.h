// One measurement in shared memory: the request (candidates and options), the progress that lets
// the server judge a candidate that dies or hangs, and the reports. The asking process creates it,
// the server and the worker map it; all three are forks of one program, so plain structs serve.
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

namespace attune::probe {

enum class ReportState : std::uint8_t {
  Pending,
  Timed,
  BuildFailed,
  Crashed,
  TimedOut,
  Wrong,
  Lost,
};

// An Outcome without pointers.
struct Report {
  ReportState state = ReportState::Pending;
  outcome::Phase phase = outcome::Phase::Load;
  bool tainted = false;  // the worker's own memory may be damaged
  int signal = 0;
  double limit_ms = 0.0;
  double max_error = 0.0;
  outcome::Timing timing = {};
  std::uint64_t outputs_offset = 0;  // from the start of the exchange
  char reason[256] = {};

  void fail(ReportState how, outcome::Phase where, std::string_view why);
  outcome::Outcome outcome() const;
};

// Written by the signal handler of a dying worker.
struct Fault {
  int signal = 0;  // 0: none
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

struct ExchangeHeader {
  std::uint32_t candidate_count = 0;
  MeasureOptions options = {};
  int rounds = 0;  // 0: one after the other
  double round_gap_ms = 0.0;
  SentinelReading before = {};
  SentinelReading after = {};
  Progress progress = {};
  std::uint64_t requests_offset = 0;
  std::uint64_t requests_bytes = 0;
};

// A candidate as the worker sees it: `facts` has no object and no contents, the spans do.
struct CandidateView {
  Candidate facts;
  std::span<const std::byte> object;
  std::vector<std::span<const std::byte>> contents;  // one per buffer, empty: fill
  std::shared_ptr<const CandidateView> preparation;  // as a candidate of its own; null: none
  std::uint64_t preparation_id = 0;
};

class Exchange {
 public:
  static Result<Exchange> create(std::span<const Candidate> candidates,
                                 const InterleaveOptions& options, bool interleaved);
  static Result<Exchange> attach(int descriptor);

  Exchange(Exchange&& other) noexcept;
  Exchange& operator=(Exchange&& other) noexcept;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange();

  int descriptor() const { return descriptor_; }
  ExchangeHeader& header() const { return *reinterpret_cast<ExchangeHeader*>(base_); }
  std::span<Report> reports() const;
  std::byte* at(std::uint64_t offset) const { return base_ + offset; }
  std::vector<CandidateView> candidates() const;

 private:
  Exchange() = default;
  Status map(std::size_t bytes);
  int descriptor_ = -1;
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace attune::probe
