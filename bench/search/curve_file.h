// Trials of searches in a CSV file, one row each, written as they are made: whoever goes on with a
// file finds what was measured before. The columns: spec, variant, seed, trial (from 1),
// trace_hash, us (empty: the candidate failed), best_us (so far), trace (steps with ';' between
// them).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace attune::bench {

struct RunKey {
  std::string spec, variant;
  std::uint64_t seed = 0;
  auto operator<=>(const RunKey&) const = default;
};

struct TrialRow {
  std::uint64_t trace_hash = 0;
  std::optional<double> us;
  double best_us = 0;  // 0: none so far
  std::string trace;
};

using Curve = std::vector<TrialRow>;

// The best of the first `count` trials, by its row; null when there is none.
const TrialRow* best_of(const Curve& curve, std::size_t count);

class CurveFile {
 public:
  // Reads what is there; a missing file is an empty one, a cut last line is dropped.
  static Result<CurveFile> open(const std::string& path);

  const std::map<RunKey, Curve>& curves() const { return curves_; }
  const Curve& curve(const RunKey& key) const;
  // Appends a trial and completes its best_us.
  Status add(const RunKey& key, std::uint64_t trace_hash, std::optional<double> us,
             const std::string& trace);

 private:
  explicit CurveFile(std::string path) : path_(std::move(path)) {}
  Status write(const std::string& line) const;

  std::string path_;
  std::map<RunKey, Curve> curves_;
};

}  // namespace attune::bench
