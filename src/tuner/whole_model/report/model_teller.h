// Tells how far the tuning of a model is: what its sessions say, in the words of the programming
// interface, and the stages of the whole. From any thread.
#pragma once

#include <mutex>
#include <type_traits>

#include "base/clock.h"
#include "tuner/session/run_model.h"
#include "tuner/whole_model/tune.h"

namespace attune::whole_model {

class ModelTeller {
 public:
  // All must outlive it. Without any budget the run takes `default_seconds`.
  ModelTeller(const TuneOptions& options, double default_seconds, const Progressed& progressed,
              const Clock& clock, std::int64_t start_ns)
      : options_(options),
        default_seconds_(default_seconds),
        progressed_(progressed),
        clock_(clock),
        start_ns_(start_ns) {}

  void forward(const session::ModelProgress& progress);

  // Does the work, and says when it begins and when it has ended.
  template <typename Work>
  std::invoke_result_t<Work> whole_stage(const char* name, const Work& work) {
    const std::int64_t start_ns = clock_.now_ns();
    tell_whole(name, true, 0);
    auto result = work();
    tell_whole(name, false, seconds_between(start_ns, clock_.now_ns()));
    return result;
  }

 private:
  double elapsed_seconds() const { return seconds_between(start_ns_, clock_.now_ns()); }
  // What the whole run has left: of its time, or of its trials at the rate so far.
  std::optional<double> left_seconds(std::int64_t trials, std::size_t tasks) const;
  void tell_whole(const char* name, bool begins, double seconds);

  const TuneOptions& options_;
  double default_seconds_;
  const Progressed& progressed_;
  const Clock& clock_;
  std::int64_t start_ns_;
  std::mutex mutex_;   // one thing at a time is told
  TuneProgress last_;  // what was last told
};

}  // namespace attune::whole_model
