// What stages and whole jobs took so far, and what is expected of others: stages by the name of
// their kind, jobs by model and budget. It learns from jobs of ours alone; another tuner's may mean
// other things by the same names.
#pragma once

#include <map>
#include <string>

#include "fleet/wire/jobs.pb.h"

namespace attune::jobs {

class Experience {
 public:
  // True whenever twice as much is known of the kind as the last time.
  bool learn_stage(const std::string& kind, double seconds);
  // What is said to be usual counts as one observation.
  double stage_seconds(const std::string& kind, double said) const;

  // One that has ended.
  void learn_job(const v1::Job& job);
  // Of all its stages, by what its model took, or else other models; negative: not known.
  double job_seconds(const v1::JobSpec& spec) const;

 private:
  struct Seen {
    double seconds = 0, count = 0;
  };
  std::map<std::string, Seen> stages_;
  std::map<std::string, Seen> jobs_;  // counted in units of their budget
};

}  // namespace attune::jobs
