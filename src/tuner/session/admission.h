// Admission of stages. The driver of a run says which stages are ready; who gives out cores and
// devices says which of them may start, at once or later. For one run on one machine
// that is a rule of a few lines (LocalAdmission); among many jobs it is the scheduler.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "tuner/session/session.h"

namespace attune::session {

inline constexpr std::int64_t kNoSession = -1;

// A stage of a session, or of the run itself, such as compiling the whole model.
struct Work {
  std::string_view kind = {};  // the name of the stage, which must outlive it
  Resource resource = Resource::HostCores;
  std::int64_t owner = kNoSession;  // the number of the session
  std::int64_t round = 0;           // stages of the run: one number each
  friend auto operator<=>(const Work&, const Work&) = default;
};

class Admission {
 public:
  virtual ~Admission() = default;
  // Those of what is ready, given in the order in which it is best run, that may start now; they
  // count as running from here on. What is no longer among the ready ones is no longer wanted.
  virtual std::vector<Work> choose(const std::vector<Work>& ready) = 0;
  // On the thread that runs it, before anything else: takes the thread to the cores it was given.
  virtual Status enter(const Work&) { return {}; }
  // What ran is over.
  virtual void ended(const Work& work, double seconds, const Status& status) = 0;
  // Said before that of a stage whose measurements were disturbed: some of it is to be done again,
  // which will be asked for as a stage of its own.
  virtual void disturbed(const Work&) {}
  // How often that may be.
  virtual int disturbed_repeats() const { return 0; }
  // Candidates that deserve it are timed so many times as long.
  virtual double timing_stretch() const { return 1; }
  // From now on `changed` is called, from any thread, when choose() may have a new answer though
  // nothing has ended, or when a wish came that those who wait should know of.
  virtual void watch(std::function<void()> changed) = 0;
};

// What stages of one run have on a machine.
struct Machine {
  int host_stages = 1;  // stages on host cores at once, at least 1
  // The device is made of the host's cores: its stages and the host's take turns, each kind until
  // nothing of it is left to do.
  bool shared = false;
};

// How much longer than needed candidates are measured, so that the device is as busy as the host:
// where building takes longer than measuring, the time to spare goes into surer timings.
class Pace {
 public:
  explicit Pace(const Machine& machine);
  void host_worked(double seconds);
  void device_worked(double seconds);
  // Of what is measured next, when so much else waits for the device.
  double stretch(std::size_t waiting) const;

 private:
  Machine machine_;
  double host_seconds_ = 0, device_seconds_ = 0;  // of late
  double stretch_;
};

// All of the machine is this run's: what is ready starts as soon as its resource is free.
class LocalAdmission final : public Admission {
 public:
  explicit LocalAdmission(const Machine& machine) : machine_(machine), pace_(machine) {}
  std::vector<Work> choose(const std::vector<Work>& ready) override;
  void ended(const Work& work, double seconds, const Status& status) override;
  double timing_stretch() const override { return pace_.stretch(waiting_); }
  void watch(std::function<void()>) override {}

 private:
  bool may_start(const Work& work) const;

  Machine machine_;
  Pace pace_;
  int on_host_ = 0, on_device_ = 0;  // that run
  std::size_t waiting_ = 0;          // for the device
  bool device_turn_ = false;
};

}  // namespace attune::session
