#include "tuner/measure/device_runner/served_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "runtime/memory/fill.h"
#include "runtime/memory/memory.h"
#include "tuner/measure/probe/timing_loop.h"
#include "tuner/measure/probe/verification.h"

namespace attune::device_runner {
namespace {

using kernel::ParameterKind;
using runtime::Space;

constexpr std::size_t kMostKept = std::size_t{8} << 30;
constexpr std::int64_t kMostCopies = 64;
// A row of calls begins later than it is asked for, by some starts of a kernel (2.2 us on an H200,
// the difference between graphs of one launch and of many); a call by itself by one. A row is so
// long, and calls that are not recorded are, that it is no more than this part of what is timed.
constexpr double kMostStart = 0.005, kRowStarts = 2.2;
constexpr std::int64_t kMostRowCalls = 512;
constexpr double kHopelessUs = 20'000;  // of a first call, though it waits for much besides

// The device's own clock.
class StreamClock final : public Clock {
 public:
  explicit StreamClock(const runtime::Stream& stream) : stream_(stream) {}
  std::int64_t now_ns() const override { return stream_.now_ns(); }

 private:
  const runtime::Stream& stream_;
};

}  // namespace

Result<ServedDevice> ServedDevice::open(const runtime::DeviceKind& kind, std::string_view target,
                                        double launch_us) {
  ServedDevice served;
  served.launch_us_ = launch_us;
  ATTUNE_ASSIGN(served.device_, kind.open(target));
  if (served.device_->space() != Space::Device) {
    return unsupported(fmt::format("'{}' has no memory of its own", kind.name),
                       "measure it where its programs run");
  }
  ATTUNE_ASSIGN(served.stream_, served.device_->open_stream({}));
  return served;
}

Result<ServedDevice::Loaded*> ServedDevice::find(std::uint64_t id) {
  const auto found = loaded_.find(id);
  if (found == loaded_.end()) return invalid(fmt::format("there is no candidate {}", id));
  return &found->second;
}

Result<ServedDevice::Block> ServedDevice::allocate(std::size_t bytes) {
  ATTUNE_ASSIGN(auto memory, device_->allocate(bytes));
  return Block(std::move(memory));
}

Result<ServedDevice::Block> ServedDevice::filled(const kernel::Parameter& parameter,
                                                 std::uint64_t seed) {
  const auto bytes = static_cast<std::size_t>(parameter.bytes());
  ATTUNE_ASSIGN(const Block block, allocate(bytes));
  ATTUNE_ASSIGN(const runtime::Memory values, runtime::Memory::allocate(bytes));
  runtime::fill(values.data(), parameter.type, parameter.elements, seed, parameter.index);
  ATTUNE_RETURN_IF_ERROR(stream_->copy({Space::Device, block->address()},
                                       {Space::Host, static_cast<std::byte*>(values.data())},
                                       bytes));
  return block;
}

// What is not written stays no number.
Result<ServedDevice::Block> ServedDevice::output_block(const kernel::Parameter& parameter) {
  const auto bytes = static_cast<std::size_t>(parameter.bytes());
  if (poison_ == nullptr || poison_bytes_ < bytes) {
    ATTUNE_ASSIGN(poison_, allocate(bytes));
    poison_bytes_ = bytes;
    std::vector<std::byte> values(bytes, std::byte{0xff});
    ATTUNE_RETURN_IF_ERROR(
        stream_->copy({Space::Device, poison_->address()}, {Space::Host, values.data()}, bytes));
  }
  ATTUNE_ASSIGN(const Block block, allocate(bytes));
  ATTUNE_RETURN_IF_ERROR(
      stream_->copy({Space::Device, block->address()}, {Space::Device, poison_->address()}, bytes));
  return block;
}

Result<ServedDevice::Block> ServedDevice::contents(const kernel::Parameter& parameter,
                                                   std::uint64_t seed, Loaded& of) {
  const bool prepared = parameter.kind == ParameterKind::Prepared;
  const std::uint64_t by = prepared && of.wanted.prepare ? of.wanted.prepare->id : 0;
  const Key key{
      seed, prepared, parameter.index, static_cast<int>(parameter.type), parameter.elements, by};
  if (const auto found = kept_.find(key); found != kept_.end()) return found->second;
  if (prepared) return invalid("a constant that no kernel prepares");
  ATTUNE_ASSIGN(const Block block, filled(parameter, seed));
  kept_[key] = block;
  kept_bytes_ += static_cast<std::size_t>(parameter.bytes());
  return block;
}

ServedDevice::Key ServedDevice::prepared_key(const kernel::Parameter& parameter,
                                             const measure::KernelCode& by, std::uint64_t seed) {
  return {seed, true, parameter.index, static_cast<int>(parameter.type), parameter.elements, by.id};
}

bool ServedDevice::is_prepared(const measure::KernelCode& code, std::uint64_t seed) const {
  return code.id != 0 && std::all_of(code.parameters.begin(), code.parameters.end(),
                                     [&](const kernel::Parameter& each) {
                                       return each.is_input() ||
                                              kept_.count(prepared_key(each, code, seed)) > 0;
                                     });
}

// Unless another candidate had the same prepared.
Status ServedDevice::prepare(Loaded& candidate) {
  if (!candidate.wanted.prepare) return {};
  const measure::KernelCode& code = *candidate.wanted.prepare;
  if (is_prepared(code, candidate.wanted.seed)) return {};
  ATTUNE_ASSIGN(const auto loaded, device_->load(*code.object));
  ATTUNE_ASSIGN(const runtime::KernelHandle kernel, loaded->kernel(code.symbol));
  std::vector<void*> arguments;
  std::vector<std::pair<Key, Block>> made;
  const std::uint64_t seed = candidate.wanted.seed;
  for (const kernel::Parameter& parameter : code.parameters) {
    if (parameter.is_input()) {
      ATTUNE_ASSIGN(const Block block, contents(parameter, seed, candidate));
      arguments.push_back(block->address());
      continue;
    }
    ATTUNE_ASSIGN(const Block block, allocate(static_cast<std::size_t>(parameter.bytes())));
    arguments.push_back(block->address());
    made.push_back({prepared_key(parameter, code, seed), block});
    kept_bytes_ += static_cast<std::size_t>(parameter.bytes());
  }
  ATTUNE_RETURN_IF_ERROR(stream_->launch(kernel, arguments));
  ATTUNE_RETURN_IF_ERROR(stream_->wait());
  for (auto& [key, block] : made) kept_[key] = block;
  return {};
}

Status ServedDevice::add_arguments(Loaded& candidate, bool own_constants) {
  std::vector<void*> arguments;
  for (const kernel::Parameter& parameter : candidate.wanted.main.parameters) {
    Block block;
    if (parameter.kind == ParameterKind::Output) {
      const auto number = static_cast<std::size_t>(parameter.index);
      if (candidate.outputs.size() <= number) candidate.outputs.resize(number + 1);
      if (candidate.outputs[number] == nullptr) {
        ATTUNE_ASSIGN(candidate.outputs[number], output_block(parameter));
      }
      block = candidate.outputs[number];
    } else {
      ATTUNE_ASSIGN(block, contents(parameter, candidate.wanted.seed, candidate));
      if (own_constants && parameter.kind != ParameterKind::Input) {
        const auto bytes = static_cast<std::size_t>(parameter.bytes());
        ATTUNE_ASSIGN(const Block copy, allocate(bytes));
        ATTUNE_RETURN_IF_ERROR(stream_->copy({Space::Device, copy->address()},
                                             {Space::Device, block->address()}, bytes));
        block = copy;
      }
    }
    arguments.push_back(block->address());
    candidate.blocks.push_back(std::move(block));
  }
  candidate.arguments.push_back(std::move(arguments));
  return {};
}

// A call when all of it is at hand, without the way there.
Result<double> ServedDevice::second_us(Loaded& candidate) {
  ATTUNE_ASSIGN(const std::int64_t ns,
                stream_->launch_timed(candidate.kernel, candidate.arguments.front()));
  return std::max(static_cast<double>(ns) * 1e-3, launch_us_);
}

// Launches of short kernels take the host longer than the device: a row of them, recorded, is asked
// for at once.
Status ServedDevice::record_row(Loaded& candidate) {
  if (!stream_->records() || candidate.first_us > kHopelessUs) return {};
  const auto sets = static_cast<std::int64_t>(candidate.arguments.size());
  if (candidate.row != nullptr && candidate.row_calls % sets == 0) return {};
  ATTUNE_ASSIGN(const double call_us, second_us(candidate));
  if (call_us * kMostStart > launch_us_) return {};
  const double wanted = std::ceil(kRowStarts * launch_us_ / (kMostStart * call_us));
  const auto least = static_cast<std::int64_t>(std::clamp(wanted, 1.0, double{kMostRowCalls}));
  const std::int64_t calls = (least + sets - 1) / sets * sets;
  ATTUNE_RETURN_IF_ERROR(stream_->begin_recording());
  Status launched;
  for (std::int64_t i = 0; i < calls && launched.ok(); ++i) {
    launched =
        stream_->launch(candidate.kernel, candidate.arguments[static_cast<std::size_t>(i % sets)]);
  }
  auto recorded = stream_->end_recording();
  ATTUNE_RETURN_IF_ERROR(launched);
  if (!recorded.ok()) return recorded.error();
  candidate.row = std::move(recorded).value();
  candidate.row_calls = calls;
  return stream_->wait();
}

Status ServedDevice::call(Loaded& candidate, std::int64_t count) {
  for (; candidate.row != nullptr && count >= candidate.row_calls; count -= candidate.row_calls) {
    ATTUNE_RETURN_IF_ERROR(stream_->replay(*candidate.row));
  }
  for (std::int64_t i = 0; i < count; ++i) {
    ATTUNE_RETURN_IF_ERROR(stream_->launch(candidate.kernel, candidate.arguments[candidate.next]));
    candidate.next = (candidate.next + 1) % candidate.arguments.size();
  }
  return stream_->wait();
}

Result<std::vector<double>> ServedDevice::read(const Loaded& candidate,
                                               const std::vector<Place>& places) {
  std::vector<probe::Buffer> buffers(candidate.outputs.size());
  std::vector<std::vector<std::byte>> copies(buffers.size());
  std::vector<const std::byte*> data(buffers.size());
  for (const kernel::Parameter& parameter : candidate.wanted.main.parameters) {
    if (parameter.kind != ParameterKind::Output) continue;
    const auto number = static_cast<std::size_t>(parameter.index);
    buffers[number] = {
        .type = parameter.type, .elements = parameter.elements, .role = probe::Role::Output};
    copies[number].resize(static_cast<std::size_t>(parameter.bytes()));
    data[number] = copies[number].data();
    ATTUNE_RETURN_IF_ERROR(stream_->copy({Space::Host, copies[number].data()},
                                         {Space::Device, candidate.outputs[number]->address()},
                                         copies[number].size()));
  }
  std::vector<probe::Sample> samples;
  for (const Place& place : places) {
    const auto number = static_cast<std::size_t>(place.output);
    if (place.output < 0 || number >= buffers.size() || place.index < 0 ||
        place.index >= buffers[number].elements) {
      return invalid(fmt::format("output {} has no element {}", place.output, place.index));
    }
    samples.push_back({.buffer = place.output, .index = place.index});
  }
  std::vector<double> values(samples.size());
  probe::read_samples(samples, buffers, data, values);
  return values;
}

Result<ServedDevice::FirstCall> ServedDevice::run(std::uint64_t id, Wanted wanted,
                                                  const TellPhase& tell) {
  tell(outcome::Phase::Load);
  if (kept_bytes_ > kMostKept) kept_.clear(), kept_bytes_ = 0;
  Loaded candidate;
  candidate.wanted = std::move(wanted);
  ATTUNE_ASSIGN(candidate.code, device_->load(*candidate.wanted.main.object));
  ATTUNE_ASSIGN(candidate.kernel, candidate.code->kernel(candidate.wanted.main.symbol));
  if (candidate.wanted.prepare) tell(outcome::Phase::Prepare);
  ATTUNE_RETURN_IF_ERROR(prepare(candidate));
  ATTUNE_RETURN_IF_ERROR(add_arguments(candidate, false));
  tell(outcome::Phase::Run);
  const std::int64_t start = stream_->now_ns();
  ATTUNE_RETURN_IF_ERROR(call(candidate, 1));
  candidate.first_us = static_cast<double>(stream_->now_ns() - start) * 1e-3;
  ATTUNE_ASSIGN(std::vector<double> values, read(candidate, candidate.wanted.samples));
  FirstCall first{candidate.first_us, std::move(values)};
  loaded_.insert_or_assign(id, std::move(candidate));
  return first;
}

Result<ServedDevice::Timed> ServedDevice::time(std::uint64_t id, const HowToTime& how) {
  ATTUNE_ASSIGN(Loaded* const candidate, find(id));
  if (candidate->wanted.cold) {
    std::int64_t bytes = 1;
    for (const kernel::Parameter& parameter : candidate->wanted.main.parameters) {
      const bool constant =
          parameter.kind == ParameterKind::Constant || parameter.kind == ParameterKind::Prepared;
      if (constant) bytes += parameter.bytes();
    }
    const std::int64_t copies = std::min(candidate->wanted.rotate_bytes / bytes + 1, kMostCopies);
    while (static_cast<std::int64_t>(candidate->arguments.size()) < copies) {
      ATTUNE_RETURN_IF_ERROR(add_arguments(*candidate, true));
    }
  }
  ATTUNE_RETURN_IF_ERROR(record_row(*candidate));
  Status failed;
  const probe::Calls calls = [&](std::int64_t count) {
    if (failed.ok()) failed = call(*candidate, count);
  };
  Timed timed{probe::time_kernel(StreamClock(*stream_), calls, candidate->first_us,
                                 how.best_known_us, how.options),
              {}};
  ATTUNE_RETURN_IF_ERROR(failed);
  ATTUNE_ASSIGN(timed.values, read(*candidate, candidate->wanted.samples));
  return timed;
}

Result<double> ServedDevice::repeat(std::uint64_t id, std::int64_t calls) {
  ATTUNE_ASSIGN(Loaded* const candidate, find(id));
  ATTUNE_RETURN_IF_ERROR(record_row(*candidate));
  const std::int64_t start = stream_->now_ns();
  ATTUNE_RETURN_IF_ERROR(call(*candidate, calls));
  return static_cast<double>(stream_->now_ns() - start) * 1e-3 / static_cast<double>(calls);
}

Result<std::vector<double>> ServedDevice::fresh(std::uint64_t id) {
  ATTUNE_ASSIGN(Loaded* const candidate, find(id));
  std::vector<void*> arguments = candidate->arguments.front();
  std::vector<Block> blocks;
  const auto& parameters = candidate->wanted.main.parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].kind != ParameterKind::Input) continue;
    ATTUNE_ASSIGN(const Block block,
                  contents(parameters[i], candidate->wanted.fresh_seed, *candidate));
    arguments[i] = block->address();
    blocks.push_back(block);
  }
  ATTUNE_RETURN_IF_ERROR(stream_->launch(candidate->kernel, arguments));
  ATTUNE_RETURN_IF_ERROR(stream_->wait());
  return read(*candidate, candidate->wanted.fresh);
}

}  // namespace attune::device_runner
