// What stages and whole jobs took so far, and what is expected of others: stages by the name of
// their kind, jobs by model and budget. It learns from jobs of ours alone; another tuner's may mean
// other things by the same names.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "fleet/wire/jobs.pb.h"

namespace attune::jobs {

// What was seen of one kind of stages or jobs.
struct Seen {
  double seconds = 0, count = 0;
};

// What one job is expected to take: follows what is learnt of others.
class Expectation {
 public:
  Expectation() = default;
  Expectation(std::shared_ptr<const Seen> same, std::shared_ptr<const Seen> any,
              const v1::JobSpec& spec);
  // Of all its stages, by what its model took, or else other models; negative: not known.
  double seconds() const;

 private:
  std::shared_ptr<const Seen> same_, any_;
  double budget_ = 1, limit_seconds_ = 0;
};

class Experience {
 public:
  // True whenever twice as much is known of the kind as the last time.
  bool learn_stage(const std::string& kind, double seconds);
  // What is said to be usual counts as one observation.
  double stage_seconds(const std::string& kind, double said) const;

  // One that has ended.
  void learn_job(const v1::Job& job);
  Expectation expect(const v1::JobSpec& spec);
  std::size_t models() const { return jobs_.size(); }

 private:
  const std::shared_ptr<Seen>& of_jobs(const std::string& key);

  std::map<std::string, Seen> stages_;
  std::map<std::string, std::shared_ptr<Seen>> jobs_;  // counted in units of their budget
};

}  // namespace attune::jobs
