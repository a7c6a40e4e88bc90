// What became of a candidate, without pointers, as it stands in shared memory; and how much of it
// is believed when foreign code may have written it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tuner/outcome/outcome.h"

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

struct Report {
  ReportState state = ReportState::Pending;
  outcome::Phase phase = outcome::Phase::Load;
  bool tainted = false;  // the worker's own memory may be damaged
  int signal = 0;
  double limit_ms = 0.0;
  double busy_us = 0.0;  // in all calls since the worker said that it runs
  outcome::Timing timing = {};
  char reason[256] = {};

  void fail(ReportState how, outcome::Phase where, std::string_view why);
  outcome::Outcome outcome() const;
};

// What another process wrote as something that can be worked with: states and phases that exist,
// text that ends and is printable, numbers that are some. What makes no sense is a crash.
Report sane(const Report& said);

// What somebody outside knows of the time that a candidate took: since it was asked for, and what
// it has run since word came that its calls begin, which may come late.
struct Passed {
  double since_asked_us = 0.0;
  double since_word_us = 0.0;
};

// Why a timing cannot be; empty: it can. The kernel shares its memory with the clock that times it,
// so that a timing is a claim: what it adds up to must fit into the time that passed outside, and
// explain it.
std::string implausible(const Report& said, const Passed& passed);

}  // namespace attune::probe
