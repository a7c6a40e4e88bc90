// The device in the process that holds it: loads candidates, keeps their memory there, calls them,
// and reads off its own clock how long that took. Inputs and constants that were prepared are kept
// for the candidates that come next.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <tuple>

#include "runtime/execution/device.h"
#include "tuner/measure/device_runner/wanted.h"

namespace attune::device_runner {

// Told before each phase begins.
using TellPhase = std::function<void(outcome::Phase)>;

class ServedDevice {
 public:
  // `launch_us`: what the device takes to start a kernel.
  static Result<ServedDevice> open(const runtime::DeviceKind& kind, std::string_view target,
                                   double launch_us);

  struct FirstCall {
    double us = 0;
    std::vector<double> values;  // at the samples
  };
  Result<FirstCall> run(std::uint64_t id, Wanted wanted, const TellPhase& tell);
  struct Timed {
    outcome::Timing timing;
    std::vector<double> values;
  };
  Result<Timed> time(std::uint64_t id, const HowToTime& how);
  // Microseconds per call.
  Result<double> repeat(std::uint64_t id, std::int64_t calls);
  Result<std::vector<double>> fresh(std::uint64_t id);
  void forget(std::uint64_t id) { loaded_.erase(id); }
  Result<std::string> condition() { return device_->condition(); }

 private:
  using Block = std::shared_ptr<runtime::DeviceMemory>;
  // Where a parameter's contents come from: seed, kind, index, type and elements; of what was
  // prepared, by which kernel.
  using Key = std::tuple<std::uint64_t, int, int, int, std::int64_t, std::uint64_t>;

  struct Loaded {
    Wanted wanted;
    std::unique_ptr<runtime::LoadedCode> code;
    runtime::KernelHandle kernel = nullptr;
    std::vector<Block> blocks;                  // of all argument lists
    std::vector<std::vector<void*>> arguments;  // calls go round them
    std::vector<Block> outputs;                 // by the number of the output
    std::size_t next = 0;
    double first_us = 0;
    std::unique_ptr<runtime::Recording> row = {};  // of so many calls
    std::int64_t row_calls = 0;
  };

  Result<Loaded*> find(std::uint64_t id);
  Status prepare(Loaded& candidate);
  Result<Block> contents(const kernel::Parameter& parameter, std::uint64_t seed, Loaded& of);
  Result<Block> filled(const kernel::Parameter& parameter, std::uint64_t seed);
  Result<Block> output_block(const kernel::Parameter& parameter);
  Status add_arguments(Loaded& candidate, bool own_constants);
  static Key prepared_key(const kernel::Parameter& parameter, const measure::KernelCode& by,
                          std::uint64_t seed);
  bool is_prepared(const measure::KernelCode& code, std::uint64_t seed) const;
  Result<double> second_us(Loaded& candidate);
  Status record_row(Loaded& candidate);
  Status call(Loaded& candidate, std::int64_t count);
  Result<std::vector<double>> read(const Loaded& candidate, const std::vector<Place>& places);
  Result<Block> allocate(std::size_t bytes);

  std::unique_ptr<runtime::Device> device_;
  std::unique_ptr<runtime::Stream> stream_;
  double launch_us_ = 1;
  Block poison_;  // what outputs hold before they are written
  std::size_t poison_bytes_ = 0;
  std::map<Key, Block> kept_;
  std::size_t kept_bytes_ = 0;
  std::map<std::uint64_t, Loaded> loaded_;
};

}  // namespace attune::device_runner
