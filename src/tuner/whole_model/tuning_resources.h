// What a tuning run works with: who builds its candidates, who measures them, and who admits its
// stages. Alone on this machine that is a plan of cores made at the start (LocalResources); the
// stages of a job among others are admitted one by one.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "compiler/target/target.h"
#include "tuner/measure/builder/local_builder.h"
#include "tuner/measure/runner.h"
#include "tuner/session/admission.h"
#include "tuner/tuning/tuning.h"

namespace attune::whole_model {

class TuningResources {
 public:
  virtual ~TuningResources() = default;

  // From here on there are a builder and a runner, for programs of this target. Best called early,
  // before the process has threads and open files.
  virtual Status open(const target::Target& target) = 0;
  virtual measure::Builder& builder() = 0;
  virtual measure::Runner& runner() = 0;
  virtual session::Admission& admission() = 0;
  virtual const Clock& clock() const = 0;
  // Whether building has cores of its own, how many rounds of one task and of a model are under way
  // at once, and how many of the model's begin together.
  virtual bool overlap() const = 0;
  virtual int task_window() const { return overlap() ? 2 : 1; }
  virtual int window() const = 0;
  virtual int batch() const { return 1; }
  // When it becomes true the run ends with the best so far; may be null.
  virtual const std::atomic<bool>* enough() const { return nullptr; }

  // As many threads as this may be timed.
  virtual int cores() const;

  // Told how many tasks there are to tune, before they are.
  virtual void expect_tasks(std::size_t) {}

  // Does it where it does not disturb measuring.
  virtual Status aside(const std::function<Status()>& work) = 0;

  // A stage of the run itself, not of one of its sessions: performed on the calling thread as soon
  // as it is admitted. One within another holds the machine in its place for that time. `kind`
  // must outlive the run.
  Status run_stage(std::string_view kind, session::Resource resource,
                   const std::function<Status()>& work);
  // Something of the run that needs none of what is admitted; it is only counted.
  Status count(const std::string& kind, const std::function<Status()>& work);
  // How long all of that took so far, by kind: no two at once. What they waited for until they were
  // admitted is under kWaiting.
  static constexpr const char* kWaiting = "waiting";
  const std::map<std::string, double>& run_seconds() const { return run_seconds_; }

 protected:
  // When it becomes true no such stage begins any more; may be null.
  virtual const std::atomic<bool>* dropped() const { return nullptr; }
  // After each of them, on its thread.
  virtual Status go_home() { return {}; }

 private:
  struct Held {
    session::Work work;
    std::int64_t start_ns = 0;
  };
  Status take(std::string_view kind, session::Resource resource);
  void give_back(const Status& status);

  std::optional<Held> held_;
  std::int64_t run_stages_ = 0;
  std::map<std::string, double> run_seconds_;
};

class LocalResources final : public TuningResources {
 public:
  Status open(const target::Target& target) override;
  measure::Builder& builder() override { return *builder_; }
  measure::Runner& runner() override { return *runner_; }
  session::Admission& admission() override { return *admission_; }
  const Clock& clock() const override { return clock_; }
  bool overlap() const override { return cores_.overlap; }
  int window() const override;
  Status aside(const std::function<Status()>& work) override;

 private:
  const SteadyClock clock_;
  std::vector<int> available_;
  tuning::CorePlan cores_;
  std::unique_ptr<measure::Runner> runner_;
  std::unique_ptr<builder::LocalBuilder> builder_;
  // Before `open`, one thing at a time.
  std::unique_ptr<session::LocalAdmission> admission_ =
      std::make_unique<session::LocalAdmission>(session::Machine{});
};

}  // namespace attune::whole_model
