// An earlier session as a world of its own: a builder and a runner that give each candidate the
// outcome that it had then. A session that runs on them must decide as that one did, or the
// difference is named.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tuner/measure/runner.h"
#include "tuner/records/record.h"

namespace attune::session {

class Recording {
 public:
  // All of the session's candidates that belong to finished rounds.
  explicit Recording(records::Session session);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  const records::Session& session() const { return session_; }
  measure::Builder& builder() { return *builder_; }
  measure::Runner& runner() { return *runner_; }
  // How many candidates were asked for in each round: Options::round_sizes of the session that
  // repeats it.
  const std::vector<std::int64_t>& round_sizes() const { return round_sizes_; }
  std::int64_t candidates() const;
  // The first candidate that was chosen otherwise this time, in words.
  std::optional<std::string> difference() const;

 private:
  class Builder;
  class Runner;
  // The candidate of that number, if it is the same as then.
  const records::SessionCandidate* find(std::int64_t number, const std::string& trace);
  const records::SessionCandidate& at(std::int64_t number) const;

  records::Session session_;
  std::vector<std::int64_t> round_sizes_;
  std::unique_ptr<measure::Builder> builder_;
  std::unique_ptr<measure::Runner> runner_;
  mutable std::mutex mutex_;  // guards the difference
  std::optional<std::pair<std::int64_t, std::string>> difference_;
};

}  // namespace attune::session
