// Measures how much the stages of tuning slow each other down when they run side by side on the
// cores that a scheduler would give them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/jobs/simulation/colocation_file.h"

namespace attune::calibration {

struct CalibrateOptions {
  std::string state = {};              // the scheduler's directory; empty: the default one
  std::vector<int> host_cores = {};    // empty: all but those of the device
  std::vector<int> device_cores = {};  // empty: the last of those that this process may use
  int devices = 1;                     // that the latter make, of equally many each
  double seconds = 20;                 // about, in all
  std::string output = {};             // empty: colocation.json in the directory
};

struct CalibrateReport {
  jobs::CoLocationMatrix matrix = {};
  // Pairs of kinds that a scheduler will keep apart because of it.
  std::vector<std::pair<std::string, std::string>> apart = {};
  std::string file = {};
};

// `told` hears what is measured next. Writes the file.
Result<CalibrateReport> calibrate(const CalibrateOptions& options,
                                  const std::function<void(const std::string&)>& told);
std::string to_json(const CalibrateReport& report);

// Of times alone and beside another, one list per round: the median of the rounds' ratios of
// medians. Rounds without times on both sides do not count; 1 when none does.
double slowdown_of(const std::vector<std::vector<double>>& alone,
                   const std::vector<std::vector<double>>& beside);

}  // namespace attune::calibration
