// What this machine is and what it can do at most: names and cache sizes as the system tells them,
// arithmetic peak and memory bandwidth as measured here and now.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace attune::probe {

struct MachineFacts {
  std::string cpu = {};            // "unknown" when the system does not say
  std::vector<int> cores = {};     // those this process may use
  int processors = 0;              // of the system, whoever may use them
  std::int64_t l1_data_bytes = 0;  // of one core; 0: not known, here and below
  std::int64_t l2_bytes = 0;
  std::int64_t l3_bytes = 0;
  std::int64_t memory_bytes = 0;
  std::vector<std::string> vector_units = {};  // widest first, e.g. avx512, avx2
};

MachineFacts describe_machine();

struct Peaks {
  double peak_gflops_1 = 0.0;    // f32 fused multiply-adds on one core
  double peak_gflops_all = 0.0;  // on all cores at once
  double triad_gbps_1 = 0.0;     // a[i] = b[i] + s * c[i] far beyond the caches
  double triad_gbps_all = 0.0;
};

struct PeakOptions {
  std::vector<int> cores = {};  // empty: all this process may use; the first is "one core"
  double seconds = 0.25;        // for each of the four figures
  std::int64_t triad_bytes = std::int64_t{64} << 20;  // of each of the three arrays
};

// The best of many short passes. Takes about a second; leaves the affinity of the caller alone.
Result<Peaks> measure_peaks(const PeakOptions& options = {});

// Where the kernel tells of processors.
inline constexpr const char* kProcessors = "/sys/devices/system/cpu";

// How many caches of a level these cores have between them; 1 where it does not say.
int count_caches(int level, const std::vector<int>& cores,
                 const std::string& processors = kProcessors);

// Numbers in a list as the kernel writes them, "0-63,128"; 0 of anything else.
int count_processors(const std::string& list);

// "32K", "1024K", "32M" as in /sys/devices/system/cpu; 0 for anything else.
std::int64_t parse_cache_size(const std::string& text);

}  // namespace attune::probe
