// What this machine has, and how fast it is: names as the system tells them, peaks as measured here
// and now, and whether what measuring relies on works.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/target/machine.h"

namespace attune::verbs {

// What is here of a kind of device.
struct DevicesHere {
  std::string kind = {};
  std::vector<std::string> lines = {};  // one each
  std::string why_none = {};
};

// A library that targets or their compilers open when they are used.
struct LibraryHere {
  std::string name = {};
  bool found = false;
};

struct DoctorReport {
  std::string version = {};
  std::string cpu = {};
  int cores = 0, usable_cores = 0;  // that are allowed, and that its control group has time for
  std::string target = {};          // what the default target stands for here
  std::vector<std::string> vector_units = {};
  int vector_bits = 0;
  std::int64_t l1_data_bytes = 0, l2_bytes = 0, l3_bytes = 0, memory_bytes = 0;
  double peak_gflops_1 = 0, peak_gflops_all = 0;
  double triad_gbps_1 = 0, triad_gbps_all = 0;
  target::Machine machine = {};      // by which schedules are chosen
  std::string machine_failure = {};  // why it is not what was measured now
  std::string llvm = {};
  std::vector<LibraryHere> libraries = {};
  std::vector<DevicesHere> devices_here = {};  // of kinds that are not the host
  std::vector<std::string> devices = {};       // that programs can be compiled for
  bool isolated_runner = false;                // candidates can be measured in a child of their own
  std::string isolation_failure = {};
  std::vector<std::string> missing_cage_parts = {};  // a sentence each; none: all of it works
  bool bubblewrap = false;                           // installed
  double seconds = 0;                                // what finding out took
};

struct DoctorOptions {
  double seconds = 0.25;  // for each measured figure
};

Result<DoctorReport> doctor(const DoctorOptions& options);
std::string to_json(const DoctorReport& report);

}  // namespace attune::verbs
