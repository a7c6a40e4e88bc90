// Runs compiled models. A Model is loaded once, is immutable and shared; each concurrent caller has
// a Session of its own with the memory for one run, allocated when the session is made. Sessions of
// all models share a thread pool that the caller owns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "runtime/execution/thread_pool.h"
#include "runtime/format/artifact.h"
#include "runtime/format/plan.h"

namespace attune::runtime {

class Model {
 public:
  // All of it, at once.
  static Result<std::shared_ptr<const Model>> load(const std::string& path,
                                                   DeviceKinds kinds = devices(),
                                                   const VerifyBytes& verify = {});
  // Loads the kernels of an opened artifact. Those for a device with memory of its own, and its
  // weights, are loaded by the first session, in the process that makes it: such a device may not
  // bear that its user forks.
  static Result<std::shared_ptr<const Model>> from(Artifact artifact);
  ~Model();

  const Plan& plan() const;
  const Artifact& artifact() const;

  struct State;
  State& state() const { return *state_; }

 private:
  explicit Model(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// An input of a run. Any alignment; memory that is aligned to 64 bytes is used in place.
struct InputView {
  const void* data = nullptr;
  DType type = DType::F32;
  std::span<const std::int64_t> shape;
};

// Room for an output of a run: at least its bytes at maximal extents.
struct OutputView {
  void* data = nullptr;
  std::size_t bytes = 0;
};

// Time per instruction, added up over the runs since clear().
struct LayerTime {
  std::string_view layer;  // of the call; lives as long as the model
  std::string_view what;   // the kernel's symbol or the host operator's name
  double flops = 0.0;      // of one call
  std::int64_t calls = 0;
  std::int64_t total_ns = 0;
  std::int64_t fastest_ns = 0;  // of one call; 0 before the first
};

class Profile {
 public:
  std::span<const LayerTime> layers() const { return layers_; }
  void clear();

 private:
  friend class Session;
  std::vector<LayerTime> layers_;  // one per kernel and host call, in the order of the plan
};

class Session {
 public:
  // The pool must outlive the session.
  static Result<Session> create(std::shared_ptr<const Model> model, ThreadPool& pool);
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  // Inputs and outputs in the order of the plan. One run at a time per session. With a profile, the
  // time of each call is added to it.
  Status run(std::span<const InputView> inputs, std::span<const OutputView> outputs,
             Profile* profile = nullptr);
  // The same work once more, on the memory that the last run was given, which must still be there
  // and aligned to 64 bytes: nothing is checked or moved, nor to a device. It may be under way on
  // return; now_ns() waits for it. For timing kernels by themselves.
  Status run_again();
  // The same so many times, by the clock of the device: microseconds of one. Where the device can
  // record all of it, it is asked for at once, so that what is timed is the device's work alone.
  Result<double> time_again(std::int64_t runs);
  // Whether a run is one recording of the device, but for the copies of inputs and outputs: then
  // what time_again() tells is all of a run.
  bool is_one_recording();
  // Of several sessions, on one device, one after the other in each of so many runs: microseconds
  // of a run.
  static Result<double> time_together(std::span<Session* const> sessions, std::int64_t runs);
  // What was recorded is recorded anew: to be called when launches are to be asked for in another
  // way (LoadedCode::choose_way).
  void forget_recordings();

  // The extents of output `index` in the last successful run.
  std::span<const std::int64_t> output_shape(std::size_t index) const;

  // The clock of the device, in which runs are timed; all work is done by then.
  std::int64_t now_ns() const;

  const Model& model() const;
  // Memory that the session holds: arenas, workspace and copies of unaligned inputs and outputs.
  std::size_t bytes() const;

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace attune::runtime
