// How long loading an artifact takes with a warm page cache, by the size of its weights, and how
// long the first reading of all weights takes after that, where they are not verified while
// loading.
//
// usage: bench_artifact [MEGABYTES]...
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/execution/executor.h"
#include "targets/cpu/device/cpu_features.h"

namespace {

using namespace attune::runtime;
using SteadyTime = std::chrono::steady_clock;

double elapsed_ms(SteadyTime::time_point start) {
  return std::chrono::duration<double, std::milli>(SteadyTime::now() - start).count();
}

void measure(std::size_t megabytes, const std::string& path) {
  std::vector<std::byte> weights(megabytes * 1000 * 1000);
  for (std::size_t i = 0; i < weights.size(); i += 8) weights[i] = static_cast<std::byte>(i >> 3);
  Plan plan;
  plan.model = "bench";
  plan.target = "cpu";
  plan.architecture = attune::cpu::host_architecture();
  const ArtifactContents contents{.plan = plan, .weights = {{0, weights}}, .objects = {}};
  if (const auto written = write_artifact(path, contents); !written.ok()) {
    std::fprintf(stderr, "%s\n", written.error().message.c_str());
    std::exit(1);
  }
  std::vector<double> loads, reads;
  for (int repeat = 0; repeat < 7; ++repeat) {
    const auto start = SteadyTime::now();
    const auto model = Model::load(path);
    loads.push_back(elapsed_ms(start));
    if (!model.ok() || !(*model)->artifact().verify_all_weights().ok()) std::exit(1);
    reads.push_back(elapsed_ms(start) - loads.back());
  }
  std::sort(loads.begin(), loads.end());
  std::sort(reads.begin(), reads.end());
  std::printf("%5zu MB: load %6.2f ms, first reading %6.2f ms\n", megabytes, loads[3], reads[3]);
}

}  // namespace

int main(int argc, char** argv) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("bench-artifact-" + std::to_string(::getpid()) + ".attune");
  std::vector<std::size_t> sizes = {1, 60, 100, 500};
  if (argc > 1) sizes.clear();
  for (int i = 1; i < argc; ++i) sizes.push_back(std::strtoul(argv[i], nullptr, 10));
  for (const std::size_t megabytes : sizes) measure(megabytes, path.string());
  std::filesystem::remove(path);
  return 0;
}
