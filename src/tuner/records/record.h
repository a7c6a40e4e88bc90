// What tuning remembers, as plain data. A Record is one measured candidate of one task on one
// target; a session is one tuning job whose whole state is kept here, round by round, so that it
// can go on after the process was killed at any point.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tuner/outcome/outcome.h"

namespace attune::records {

using RecordId = std::int64_t;   // 0: not stored yet
using SessionId = std::int64_t;  // 0: belongs to no session (imported, or measured by hand)

// Whether a model's constants were in the caches when the candidate was timed. Only like is
// compared with like.
enum class Weights { Hot, Cold };

struct StageTimes {
  double build_ms = 0;
  double run_ms = 0;
  double wait_ms = 0;  // queueing for a device, never part of a timeout
};

// How far the timing can be trusted.
struct NoiseFacts {
  double cv = 0;              // of the repeats: standard deviation / mean
  double sentinel_drift = 0;  // of the kernel timed before and after the batch, relative
};

struct Record {
  RecordId id = 0;
  std::string task_key;  // stable hash of the task, hexadecimal
  std::string task_name;
  std::string target;  // resolved, as text
  std::string trace;   // as text, one step per line
  std::uint64_t trace_hash = 0;
  outcome::Outcome outcome;
  Weights weights = Weights::Hot;
  StageTimes stages;
  std::string product_version;
  std::string device;
  NoiseFacts noise;
  std::uint64_t seed = 0;
  SessionId session = 0;
  std::int64_t number = 0;         // of the candidate in its session, from 0
  bool verified = false;           // its output agreed with the reference
  std::int64_t created_at_ms = 0;  // Unix time
};

// What a session is about; fixed when it is created.
struct SessionSpec {
  std::string task_key;
  std::string task_name;
  std::string target;
  std::string options;      // as text, for reports and for the code that resumes
  std::string options_key;  // of the options that must be equal for a session to be resumed
  std::uint64_t seed = 0;
  std::int64_t created_at_ms = 0;
};

enum class CandidateStatus { Selected, Built, Profiled };

// A row of a session.
struct SessionCandidate {
  std::int64_t number = 0;  // unique in the session, from 0
  std::string trace;        // as text
  std::uint64_t trace_hash = 0;
  double predicted_us = 0;
  std::int64_t round = 0;
  CandidateStatus status = CandidateStatus::Selected;
  std::optional<Record> record = {};  // exactly when profiled
  // The time that it was profiled with; the record's may be of a later look. Empty when it had none
  // or was profiled by a version that did not keep it.
  std::optional<double> first_us = {};
};

struct SessionRound {
  std::int64_t round = 0;
  bool finished = false;
  std::int64_t asked = 0;  // how many candidates the search was asked for; 0: not known
};

// Everything known about a session, in the order in which it happened.
struct Session {
  SessionId id = 0;
  SessionSpec spec;
  bool finished = false;
  // What changed in the search, stage by stage: opaque bytes that make its state together.
  std::vector<std::string> changes;
  std::vector<SessionRound> rounds;
  std::vector<SessionCandidate> candidates;
};

}  // namespace attune::records
