// What is asked about a candidate, as it travels to the process that holds the device: code,
// parameters, where to look at its outputs and how to time it. What must come out stays behind.
#pragma once

#include <optional>
#include <vector>

#include "base/answer_reader.h"
#include "base/isolated.h"
#include "tuner/measure/probe/candidate.h"
#include "tuner/measure/runner.h"

namespace attune::device_runner {

struct Place {
  int output = 0;
  std::int64_t index = 0;
};

struct Wanted {
  measure::KernelCode main;
  std::optional<measure::KernelCode> prepare;
  std::uint64_t seed = 0, fresh_seed = 0;
  std::vector<Place> samples, fresh;
  bool cold = false;              // constants are never where a call before left them
  std::int64_t rotate_bytes = 0;  // of copies of them, then
};

Bytes to_bytes(const Wanted& wanted);
// An error when the bytes are none.
Result<Wanted> wanted_from(AnswerReader& reader);

// What asks about a candidate by its number, and so much more.
Bytes numbered(std::uint64_t id, const Bytes& more);
Bytes to_bytes(std::int64_t calls);
void append_values(Bytes& bytes, const std::vector<double>& values);
std::vector<double> values_from(AnswerReader& reader);

// How long and how often.
Bytes to_bytes(const probe::MeasureOptions& options, double best_known_us);
struct HowToTime {
  probe::MeasureOptions options;
  double best_known_us = 0;
};
HowToTime how_to_time_from(AnswerReader& reader);

void append_timing(Bytes& bytes, const outcome::Timing& timing);
outcome::Timing timing_from(AnswerReader& reader);

}  // namespace attune::device_runner
