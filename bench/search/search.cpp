// How quickly searches find good schedules. Every trial goes into a CSV file, from which a search
// that was cut goes on; tables of what the file holds are printed at the end: the speed reached
// after so many trials, relative to the best known of the operator.
//
// usage: bench_search [-csv=FILE] [-lessons=FILE] [-lessons-target=T] [-trials=N] [-seeds=N]
//                     [-seconds=S] [-target=T] [-retime] [-variant=NAME[:key=value,…]]... SPEC...
// Without -variant: the standard search. Variants with history learn from the trials of -lessons,
// a file of the same kind, those of the operator itself left out unless they were made on another
// target; `trials=N` gives a variant fewer or more than the others. -retime measures the winners
// after -short=N trials (64) and after all in turns, seconds apart, and compares those.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "bench/search/search_bench.h"

namespace attune::bench {
namespace {

struct Options {
  std::string csv = "search.csv", lessons, lessons_target, target = "cpu -threads=1";
  std::size_t trials = 64, short_trials = 64, seeds = 1;
  double seconds = 1e9;
  bool retime = false;
  std::vector<Variant> variants;
  std::vector<std::string> specs;
};

Result<Options> parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto value = [&](std::string_view name) -> const char* {
      return argument.starts_with(name) ? argv[i] + name.size() : nullptr;
    };
    const auto number = [](const char* text) { return static_cast<std::size_t>(std::atoll(text)); };
    if (const char* path = value("-csv=")) {
      options.csv = path;
    } else if (const char* lessons = value("-lessons=")) {
      options.lessons = lessons;
    } else if (const char* place = value("-lessons-target=")) {
      options.lessons_target = place;
    } else if (const char* trials = value("-trials=")) {
      options.trials = number(trials);
    } else if (const char* few = value("-short=")) {
      options.short_trials = number(few);
    } else if (const char* seeds = value("-seeds=")) {
      options.seeds = number(seeds);
    } else if (const char* seconds = value("-seconds=")) {
      options.seconds = std::atof(seconds);
    } else if (const char* target = value("-target=")) {
      options.target = target;
    } else if (argument == "-retime") {
      options.retime = true;
    } else if (const char* variant = value("-variant=")) {
      ATTUNE_ASSIGN(Variant parsed, parse_variant(variant));
      options.variants.push_back(std::move(parsed));
    } else {
      options.specs.push_back(argument);
    }
  }
  if (options.variants.empty()) options.variants.push_back({.name = "standard", .search = {}});
  if (options.specs.empty()) return invalid("no operator given");
  return options;
}

std::size_t trials_of(const Options& options, const Variant& variant) {
  return variant.trials > 0 ? variant.trials : options.trials;
}

double best_known(const CurveFile& file, const std::string& spec) {
  double best = 0;
  for (const auto& [key, curve] : file.curves()) {
    if (key.spec != spec || curve.empty()) continue;
    const double us = curve.back().best_us;
    if (us > 0 && (best == 0 || us < best)) best = us;
  }
  return best;
}

// One line per variant: the mean over the seeds of the speed reached, relative to `best`.
void print_curves(const Options& options, const CurveFile& file, const std::string& spec) {
  const double best = best_known(file, spec);
  fmt::print("{}: best {:.2f} us\n", spec, best);
  for (const Variant& variant : options.variants) {
    fmt::print("  {:16}", variant.name);
    std::size_t failed = 0, all = 0;
    for (std::size_t count = 8; count <= options.trials; count *= 2) {
      double sum = 0;
      for (std::size_t seed = 0; seed < options.seeds; ++seed) {
        const Curve& curve = file.curve({spec, variant.name, seed});
        const TrialRow* row = best_of(curve, count);
        sum += row ? best / *row->us : 0;
        if (count > 8) continue;
        all += curve.size();
        for (const TrialRow& trial : curve) failed += !trial.us;
      }
      fmt::print(" {}:{:5.1f}", count, 100 * sum / static_cast<double>(options.seeds));
    }
    fmt::print(" %, {} of {} failed\n", failed, all);
  }
}

Status retime(const Options& options, SearchBench& bench, const CurveFile& file,
              const session::Task& task) {
  std::vector<std::string> traces, names;
  for (const Variant& variant : options.variants) {
    for (std::size_t seed = 0; seed < options.seeds; ++seed) {
      const Curve& curve = file.curve({task.name, variant.name, seed});
      std::set<std::size_t> counts{options.short_trials, trials_of(options, variant)};
      for (const std::size_t count : counts) {
        const TrialRow* row = best_of(curve, count);
        if (!row) continue;
        traces.push_back(row->trace);
        names.push_back(fmt::format("{}/{}@{}", variant.name, seed, count));
      }
    }
  }
  if (traces.empty()) return {};
  ATTUNE_ASSIGN(const auto us, bench.compare(task, traces));
  fmt::print("  in turns:");
  for (std::size_t i = 0; i < us.size(); ++i) {
    fmt::print(" {} {:.2f} us{}", names[i], us[i],
               us[i] > 0 ? fmt::format(" {:.1f} GFLOP/s", task.flops / us[i] / 1e3) : "");
  }
  fmt::print("\n");
  return {};
}

Status run(const Options& options) {
  ATTUNE_ASSIGN(CurveFile file, CurveFile::open(options.csv));
  ATTUNE_ASSIGN(const auto bench, SearchBench::start(options.target));
  const auto start = std::chrono::steady_clock::now();
  if (!options.lessons.empty()) {
    ATTUNE_ASSIGN(const CurveFile lessons, CurveFile::open(options.lessons));
    ATTUNE_ASSIGN(
        const std::size_t trials,
        bench->learn_from(
            lessons, options.lessons_target.empty() ? options.target : options.lessons_target));
    fmt::print("learning from {} trials\n", trials);
  }
  const auto out_of_time = [&] {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - start).count() > options.seconds;
  };
  for (const std::string& spec : options.specs) {
    ATTUNE_ASSIGN(const session::Task task, bench->task_of(spec));
    for (const Variant& variant : options.variants) {
      for (std::size_t seed = 0; seed < options.seeds; ++seed) {
        const std::size_t trials = trials_of(options, variant);
        ATTUNE_ASSIGN(const SearchCost cost,
                      bench->search({task, variant, seed, trials}, file, out_of_time));
        if (cost.rounds == 0) continue;
        const auto rounds = static_cast<double>(cost.rounds);
        fmt::print(
            "{} {}/{}: {} trials, measured in {:.1f} s; a round's select {:.0f} ms, update {:.0f} "
            "ms, longest {:.0f} ms{}\n",
            spec, variant.name, seed, cost.measured, cost.measure_seconds,
            1e3 * cost.select_seconds / rounds, 1e3 * cost.update_seconds / rounds,
            1e3 * cost.longest_choice_seconds, cost.complete ? "" : "; cut");
        for (const auto& [reason, count] : cost.failures) fmt::print("  {} x {}\n", count, reason);
      }
    }
    print_curves(options, file, spec);
    if (options.retime && !out_of_time()) {
      ATTUNE_RETURN_IF_ERROR(retime(options, *bench, file, task));
    }
    std::fflush(stdout);
  }
  return {};
}

}  // namespace
}  // namespace attune::bench

int main(int argc, char** argv) {
  const auto options = attune::bench::parse(argc, argv);
  const attune::Status status =
      options.ok() ? attune::bench::run(*options) : attune::Status(options.error());
  if (!status.ok()) {
    fmt::print(stderr, "bench_search: {}\n", status.error().message);
    if (!status.error().hint.empty()) fmt::print(stderr, "{}\n", status.error().hint);
  }
  return status.ok() ? 0 : 1;
}
