// Kernels with blocks and threads, printed as CUDA C++, compute what the interpreter computes:
// those of random bound traces and of random points of the templates for launches, on operators of
// every family and type. They are compiled as C++ with an emulation of the device, many to a file.
// ATTUNE_PROPERTY_CUDA says how many are compared, ATTUNE_PROPERTY_SEED where seeds begin.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "compiler/ir/interpret/launches.h"
#include "compiler/ir/text/print.h"
#include "compiler/lower/lower.h"
#include "targets/cuda/codegen/emulated_testing.h"
#include "targets/cuda/codegen/nvrtc.h"
#include "targets/kinds.h"
#include "tests/support/random/random_launch.h"
#include "tests/support/run_scheduled.h"
#include "tuner/space/template_space.h"
#include "tuner/templates/launches/launches.h"

namespace attune::test {
namespace {

using namespace ir;

constexpr std::size_t kTogether = 60;  // kernels of one file

std::int64_t setting(const char* name, std::int64_t fallback) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoll(text) : fallback;
}

// A kernel with arrays before and after a run by the interpreter.
struct Trial {
  Kernel kernel;
  std::vector<Array> arrays, expected;
  std::string about;
};

LaunchCase template_case(std::uint64_t seed) {
  static const target::Target target =
      targets::resolve(targets::parse("sim -shared_kb=96").value()).value();
  Rng rng(seed);
  LaunchCase made{random_operator(rng, target), {}};
  const space::TemplateSpace space({{"direct", made.subject.program}}, templates::launches(),
                                   target);
  const space::Point point = space.sample(rng);
  if (space.schedule_of(point).ok()) made.trace = space.trace_of(point);
  return made;
}

void add_trial(Kernel kernel, std::size_t inputs, std::map<std::string, Array>& arrays,
               const std::string& about, std::vector<Trial>& trials) {
  Trial trial{std::move(kernel), {}, {}, about};
  for (const Buffer& buffer : trial.kernel.params) {
    const auto found = arrays.find(buffer->name);
    trial.arrays.push_back(found != arrays.end() ? found->second
                                                 : Array(buffer->type, buffer->shape));
    trial.arrays.back().shape = buffer->shape;
  }
  trial.expected = trial.arrays;
  LaunchOptions options;
  constexpr std::int64_t kPlenty = 1 << 20;
  options.limits = {kPlenty, kPlenty, kPlenty, kPlenty};
  const auto findings =
      run_launches(trial.kernel, trial.expected, static_cast<int>(inputs), options);
  ASSERT_TRUE(findings.ok()) << about << findings.error().message;
  ASSERT_TRUE(findings->empty()) << about << findings->front().text;
  for (std::size_t i = inputs; i < trial.expected.size(); ++i) {
    arrays[trial.kernel.params[i]->name] = trial.expected[i];
  }
  trial.kernel.name = "k" + std::to_string(trials.size());
  trials.push_back(std::move(trial));
}

// No device gives a thread so much.
bool needs_too_much(const Kernel& kernel) {
  constexpr std::int64_t kMostBytes = 64 << 10;
  const std::vector<Launch> launches = launches_of(kernel);
  return std::any_of(launches.begin(), launches.end(), [](const Launch& launch) {
    return launch.stack_bytes + launch.register_bytes > kMostBytes;
  });
}

void add_trials(const LaunchCase& c, std::uint64_t seed, std::vector<Trial>& trials) {
  if (c.trace.empty()) return;
  const auto state = schedule::replay(c.subject.program, c.trace);
  if (!state.ok()) return;
  lower::Options options;
  options.pipeline = lower::launch_pipeline();
  const auto lowered = lower::lower(*state, options);
  const auto reference = make_reference(c.subject.reference, seed);
  if (!lowered.ok() || !reference.ok()) return;
  std::map<std::string, Array> arrays;
  for (std::size_t i = 0; i < c.subject.program.inputs.size(); ++i) {
    arrays[c.subject.program.inputs[i].buffer->name] = reference->inputs[i];
  }
  if (needs_too_much(lowered->main)) return;
  if (lowered->prepare && needs_too_much(*lowered->prepare)) return;
  const std::string about =
      fmt::format("seed {}: {}\n{}", seed, c.subject.name, schedule::to_string(c.trace));
  if (lowered->prepare) {
    add_trial(*lowered->prepare, lowered->prepare_inputs.size(), arrays, about, trials);
  }
  add_trial(lowered->main, lowered->main_inputs.size() + lowered->prepared.size(), arrays, about,
            trials);
}

void expect_agreement(const Trial& trial, const std::vector<Array>& got, const std::string& text) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    double largest = 0;
    for (std::int64_t at = 0; at < got[i].count(); ++at) {
      const double value = std::abs(trial.expected[i].real(at));
      if (std::isfinite(value)) largest = std::max(largest, value);
    }
    const double tolerance = got[i].type.bits == 16 ? 2e-2 : 1e-5;
    for (std::int64_t at = 0; at < got[i].count(); ++at) {
      const double want = trial.expected[i].real(at), have = got[i].real(at);
      const bool same = want == have || (std::isnan(want) && std::isnan(have));
      ASSERT_TRUE(same || std::abs(want - have) <= tolerance * largest)
          << trial.about << to_string(trial.kernel) << text << "\nelement " << at << " of "
          << trial.kernel.params[i]->name << " is " << have << ", not " << want;
    }
  }
}

// Runs all of them, and has NVRTC compile a few.
void compare(const std::vector<Trial>& trials) {
  std::vector<Kernel> kernels;
  for (const Trial& trial : trials) kernels.push_back(trial.kernel);
  const cuda::EmulatedKernels emulated(kernels);
  for (std::size_t k = 0; k < trials.size(); ++k) {
    expect_agreement(trials[k], emulated.run(k, trials[k].arrays), emulated.text(k));
    if (k % 20 != 0 || !cuda::Nvrtc::here().ok()) continue;
    const auto compiled = cuda::Nvrtc::here()->compile(emulated.text(k), "sm_90a");
    ASSERT_TRUE(compiled.ok()) << compiled.error().message << emulated.text(k);
  }
}

void compare_cases(LaunchCase (*make)(std::uint64_t)) {
  const std::int64_t wanted = setting("ATTUNE_PROPERTY_CUDA", 300);
  auto seed = static_cast<std::uint64_t>(setting("ATTUNE_PROPERTY_SEED", 1));
  std::int64_t done = 0;
  while (done < wanted && !::testing::Test::HasFatalFailure()) {
    std::vector<Trial> trials;
    while (trials.size() < kTogether) {
      add_trials(make(seed), seed, trials);
      ++seed;
    }
    compare(trials);
    done += std::ssize(trials);
  }
  fmt::print("{} kernels agreed\n", done);
}

TEST(CudaCodegen, RandomBoundTracesAgree) { compare_cases(random_launch_case); }
TEST(CudaCodegen, PointsOfTheTemplateAgree) { compare_cases(template_case); }

}  // namespace
}  // namespace attune::test
