#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/calibration/calibrate.h"
#include "app/cli/fleet/scheduler_options.h"
#include "app/cli/fleet/scheduler_verbs.h"
#include "app/cli/shared_options.h"

namespace attune::cli {
namespace {

std::string_view shown_name(const std::string& stage) {
  if (stage == jobs::kBuilding) return "build";
  if (stage == jobs::kLearning) return "select, update";
  if (stage == jobs::kProfileCompute) return "profile, bound by arithmetic";
  return "profile, bound by memory";
}

std::string page_of(const calibration::CalibrateReport& report) {
  std::string page = fmt::format("{:<30} {:<30} {:>10}\n", "stage", "beside", "slower by");
  for (const jobs::PairSlowdown& pair : report.matrix.pairs) {
    page += fmt::format("{:<30} {:<30} {:>8.1f} %\n", shown_name(pair.stage),
                        shown_name(pair.beside), 100 * (pair.slowdown - 1));
  }
  page += fmt::format("\nhost stages on core {}, measuring on core {}\n",
                      fmt::join(report.matrix.host_cores, ", "),
                      fmt::join(report.matrix.device_cores, ", "));
  if (report.matrix.devices > 1) page += fmt::format("in {} devices\n", report.matrix.devices);
  if (report.apart.empty()) return page + "nothing needs to be kept apart\n";
  page += "kept apart:";
  for (std::size_t i = 0; i < report.apart.size(); ++i) {
    page += fmt::format("{} {} and {}", i == 0 ? "" : ",", report.apart[i].first,
                        report.apart[i].second);
  }
  return page + "\n";
}

}  // namespace

Result<int> run_scheduler_calibrate(Words arguments, Console& console) {
  CommandLine line("scheduler calibrate",
                   "Measures how much building, learning and profiling slow each other down on "
                   "this machine. A scheduler that starts afterwards keeps apart what disturbs "
                   "measurements: by more than 3 % where arithmetic is the limit, 10 % where "
                   "memory is.");
  calibration::CalibrateOptions options;
  Speech speech;
  std::string host, device;
  std::optional<double> seconds;
  std::optional<std::int64_t> devices;
  line.text("--state", "DIR", options.state,
            "the scheduler's directory (~/.local/share/attune/scheduler)");
  line.text("--host-cores", "LIST", host, "cores of host stages (all others)");
  line.text("--profile-cores", "LIST", device, "cores to measure on (the last one)");
  line.number("--devices", "N", devices, 1, 1000,
              "how many devices the measuring cores make, as the scheduler's --device cpu=N (1)");
  line.real("--seconds", "S", seconds, 1, 3600, "time to take in all (20)");
  line.text("-o,--output", "FILE", options.output, "write it here (colocation.json there)");
  add_speech_options(line, speech, "print one JSON document");
  line.example("scheduler calibrate", "on an otherwise idle machine, before 'attune scheduler'");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    ATTUNE_ASSIGN(options.host_cores, parse_cores("--host-cores", host));
    ATTUNE_ASSIGN(options.device_cores, parse_cores("--profile-cores", device));
    options.devices = static_cast<int>(devices.value_or(options.devices));
    options.seconds = seconds.value_or(options.seconds);
    const auto told = [&](const std::string& text) {
      if (console.is_terminal()) console.progress_line(text);
    };
    ATTUNE_ASSIGN(const calibration::CalibrateReport report, calibration::calibrate(options, told));
    console.clear_progress_line();
    ATTUNE_RETURN_IF_ERROR(
        console.print(speech.json ? calibration::to_json(report) + "\n" : page_of(report)));
    console.note(fmt::format("wrote {}", report.file));
    return 0;
  });
}

}  // namespace attune::cli
