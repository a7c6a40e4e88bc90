// How far default schedules are from tuned ones: every layer of a list is searched from nothing,
// and its default schedule and the best one found are timed in turns. A layer is a task of a model
// or an operator spec. Results are appended to a file, one JSON object a line; layers that it has
// already are left out, and trials of a search that was cut are in FILE.trials.csv.
//
// usage: bench_layers -plan=FILE -out=FILE [-target=T] [-trials=N] [-seed=N] [-predicted=N]
//                     [-known=FILE] [-believed]
// With -known the best schedules are taken from an earlier -out instead of searching: what a change
// of the defaults does shows within seconds. With -predicted the N schedules of each algorithm that
// the analytic model believes in most are timed with them; what it believes of default and best is
// in every line, and in `searched_us` the time of the best also where the default is faster. With
// -believed nothing is timed: what the analytic model believes of every trial of an earlier run,
// stage by stage, is printed beside its time. The plan has a JSON object a line:
// {"name": …, "model": …} and, where the model has several tasks, the "task" by its key; "shapes"
// and "constants" as --shape and --constant have them.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/search/search_bench.h"
#include "compiler/model/load/model.h"
#include "tuner/cost_model/analytic.h"
#include "tuner/cost_model/descent.h"
#include "tuner/space/template_space.h"
#include "tuner/tunings/tunings.h"
#include "tuner/whole_model/tune_tasks.h"

namespace attune::bench {
namespace {

using nlohmann::json;

struct Options {
  std::string plan, out, target = "cpu";
  std::size_t trials = 128;
  std::uint64_t seed = 0;
  std::size_t predicted = 0;
  std::string known;
  bool believed = false;
};

struct Layer {
  std::string name;
  std::string model;
  std::string task = {};  // its key; empty: the model has but one
  std::vector<std::string> shapes = {}, constants = {};
};

std::vector<json> lines_of(const std::string& path) {
  std::vector<json> lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    json parsed = json::parse(line, nullptr, false);
    if (parsed.is_object()) lines.push_back(std::move(parsed));
  }
  return lines;
}

Layer layer_of(const json& line) {
  return {.name = line.at("name"),
          .model = line.at("model"),
          .task = line.value("task", ""),
          .shapes = line.value("shapes", std::vector<std::string>{}),
          .constants = line.value("constants", std::vector<std::string>{})};
}

// The schedule as the analytic model sees it; nothing: it cannot be replayed.
std::optional<space::Scheduled> scheduled(const session::Task& task, const std::string& trace) {
  std::string lines = trace;
  std::replace(lines.begin(), lines.end(), ';', '\n');
  const auto parsed = schedule::parse_trace(lines);
  if (!parsed.ok()) return std::nullopt;
  const std::string name = model::recorded_schedule(*parsed).algorithm;
  for (const session::Algorithm& algorithm : task.algorithms) {
    if (algorithm.name != name) continue;
    auto state = schedule::replay(*algorithm.program, *parsed);
    if (!state.ok()) return std::nullopt;
    auto bounds = schedule::infer_bounds(*state, schedule::Mins::Leave);
    if (!bounds.ok()) return std::nullopt;
    return space::Scheduled{std::move(*state), std::move(*bounds)};
  }
  return std::nullopt;
}

// What the analytic model believes of a schedule; 0: it cannot say.
double believed_us(const session::Task& task, const target::Target& target,
                   const std::string& trace, bool cold_weights) {
  const auto replayed = scheduled(task, trace);
  return replayed ? tunings::tuning_of(target).prior(target, cold_weights)->predict_us(*replayed)
                  : 0;
}

// One line a trial: its time, what was believed, and of which parts that is made.
void print_believed(const session::Task& task, const target::Target& target, const Curve& trials,
                    bool cold_weights) {
  for (const TrialRow& trial : trials) {
    const auto replayed = scheduled(task, trial.trace);
    if (!replayed || !trial.us) continue;
    const cost_model::Prediction prediction = cost_model::predict(*replayed, target, cold_weights);
    json stages = json::object();
    for (std::size_t i = 0; i < prediction.stages.size(); ++i) {
      const cost_model::StageCost& cost = prediction.stages[i];
      stages[replayed->state.stages[i]->stage.name] = {cost.compute_us, cost.l2_us, cost.l3_us,
                                                       cost.dram_us, cost.cores_us};
    }
    fmt::print("{}\n", json{{"name", task.name},
                            {"us", *trial.us},
                            {"believed_us", prediction.us},
                            {"stages", stages},
                            {"trace", trial.trace}}
                           .dump());
  }
}

struct TunableLayer {
  whole_model::TunableTask tunable;
  std::string algorithm;  // of the default schedule
};

Result<TunableLayer> prepare(const Layer& layer, const Options& options) {
  model::ModelOptions source{.model = layer.model, .target = options.target};
  for (const std::string& text : layer.shapes) {
    ATTUNE_ASSIGN(auto shape, model::parse_shape(text));
    source.shapes.insert(std::move(shape));
  }
  for (const std::string& text : layer.constants) {
    ATTUNE_ASSIGN(auto constant, model::parse_constant(text));
    source.constants.insert(std::move(constant));
  }
  ATTUNE_ASSIGN(model::LoadedModel loaded, model::load_model(source));
  const model::CompileOptions compile = model::compile_options(loaded, source);
  ATTUNE_ASSIGN(const model::ModelTasks tasks,
                model::prepare_tasks(std::exchange(loaded.graph, {}), compile));
  const auto& distinct = tasks.distinct;
  whole_model::TuneOptions tuning;
  tuning.model = source;
  const auto tunable = whole_model::tunable_tasks(tasks, loaded, tuning, 1);
  // Without a key: what there is most to do in.
  const graph::Task* chosen = nullptr;
  for (const graph::Task& task : distinct) {
    const bool wanted = layer.task.empty() ? chosen == nullptr || task.op.flops > chosen->op.flops
                                           : task.key == layer.task;
    if (wanted) chosen = &task;
  }
  if (chosen == nullptr) return invalid(fmt::format("{} has no task {}", layer.model, layer.task));
  return TunableLayer{tunable[static_cast<std::size_t>(chosen - distinct.data())],
                      loaded.default_of(*chosen).algorithm};
}

std::string one_line(const schedule::Trace& trace) {
  std::string text = schedule::to_string(trace);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (char& c : text) {
    if (c == '\n') c = ';';
  }
  return text;
}

// What the analytic model would choose of each algorithm, best first.
struct Predicted {
  std::vector<std::string> traces;
  std::vector<double> us;  // as believed
};

Predicted predicted_traces(const session::Task& task, const target::Target& target,
                           std::size_t count, bool cold_weights) {
  const tuning::Tuning& tuning = tunings::tuning_of(target);
  const auto model = tuning.prior(target, cold_weights);
  std::vector<std::pair<double, std::string>> found;
  for (const session::Algorithm& algorithm : task.algorithms) {
    if (!algorithm.competes) continue;
    const space::TemplateSpace space({{algorithm.name, *algorithm.program}}, tuning.templates(),
                                     target);
    for (const auto& predicted : cost_model::fastest_predicted(space, *model, count)) {
      found.emplace_back(predicted.us, one_line(space.trace_of(predicted.point)));
    }
  }
  std::sort(found.begin(), found.end());
  Predicted result;
  for (auto& [us, trace] : found) {
    result.us.push_back(us);
    result.traces.push_back(std::move(trace));
  }
  return result;
}

// The best schedule of the layer, found here or known from before; empty: there is none.
Result<std::string> best_trace(SearchBench& bench, CurveFile& trials,
                               const whole_model::TunableTask& tunable, const Options& options) {
  const std::string& name = tunable.task.name;
  if (!options.known.empty()) {
    for (const json& line : lines_of(options.known)) {
      if (line.value("name", "") == name) return line.value("tuned", "");
    }
    return std::string();
  }
  const Variant standard{.name = "standard", .search = {}};
  const SearchRun run{tunable.task, standard, options.seed, options.trials,
                      tunable.options.weights};
  ATTUNE_ASSIGN(const SearchCost cost, bench.search(run, trials, [] { return false; }));
  const TrialRow* best = best_of(trials.curve({name, standard.name, options.seed}), options.trials);
  return best ? best->trace : std::string();
}

Result<json> measure(SearchBench& bench, CurveFile& trials, const Layer& layer,
                     const Options& options) {
  ATTUNE_ASSIGN(TunableLayer found, prepare(layer, options));
  whole_model::TunableTask& tunable = found.tunable;
  tunable.task.name = layer.name;
  const bool cold = tunable.options.weights == records::Weights::Cold;
  if (options.believed) {
    print_believed(tunable.task, bench.target(),
                   trials.curve({layer.name, "standard", options.seed}), cold);
    return json();
  }
  ATTUNE_ASSIGN(const std::string best, best_trace(bench, trials, tunable, options));
  const std::string untuned = one_line(tunable.untuned);
  std::vector<std::string> timed{untuned, best.empty() ? untuned : best};
  const Predicted predicted =
      predicted_traces(tunable.task, bench.target(), options.predicted, cold);
  timed.insert(timed.end(), predicted.traces.begin(), predicted.traces.end());
  ATTUNE_ASSIGN(const std::vector<double> us,
                bench.compare(tunable.task, timed, tunable.options.weights));
  // What is no faster than the default is not taken.
  const double tuned = us[1] > 0 && us[1] < us[0] ? us[1] : us[0];
  json result{{"name", layer.name}, {"flops", tunable.task.flops},  {"default_us", us[0]},
              {"tuned_us", tuned},  {"algorithm", found.algorithm}, {"default", untuned},
              {"tuned", timed[1]}};
  result["searched_us"] = us[1];
  result["believed_default_us"] = believed_us(tunable.task, bench.target(), untuned, cold);
  result["believed_tuned_us"] = believed_us(tunable.task, bench.target(), timed[1], cold);
  if (options.predicted > 0) {
    result["predicted_us"] = std::vector<double>(us.begin() + 2, us.end());
    result["predicted"] = predicted.traces;
    result["believed_us"] = predicted.us;
  }
  return result;
}

Status run(const Options& options) {
  std::set<std::string> done;
  for (const json& line : lines_of(options.out)) done.insert(line.value("name", ""));
  ATTUNE_ASSIGN(CurveFile trials, CurveFile::open(options.out + ".trials.csv"));
  ATTUNE_ASSIGN(const auto bench, SearchBench::start(options.target));
  const std::vector<json> plan = lines_of(options.plan);
  if (plan.empty()) return invalid(fmt::format("'{}' has no layers", options.plan));
  std::size_t number = 0;
  for (const json& line : plan) {
    const Layer layer = layer_of(line);
    ++number;
    if (done.contains(layer.name) && !options.believed) continue;
    const auto result = measure(*bench, trials, layer, options);
    if (!result.ok()) {
      fmt::print(stderr, "{}: {}\n", layer.name, result.error().message);
      continue;
    }
    if (options.believed) continue;
    std::ofstream(options.out, std::ios::app) << result->dump() << '\n';
    const double untuned = result->at("default_us"), tuned = result->at("tuned_us");
    fmt::print("{:3} of {}: {:.2f}  {:.1f} -> {:.1f} us  {}\n", number, plan.size(),
               tuned / untuned, untuned, tuned, layer.name);
    std::fflush(stdout);
  }
  return {};
}

}  // namespace
}  // namespace attune::bench

int main(int argc, char** argv) {
  attune::bench::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto value = [&](std::string_view name) -> const char* {
      return argument.starts_with(name) ? argv[i] + name.size() : nullptr;
    };
    if (const char* plan = value("-plan=")) {
      options.plan = plan;
    } else if (const char* out = value("-out=")) {
      options.out = out;
    } else if (const char* target = value("-target=")) {
      options.target = target;
    } else if (const char* trials = value("-trials=")) {
      options.trials = static_cast<std::size_t>(std::atoll(trials));
    } else if (const char* predicted = value("-predicted=")) {
      options.predicted = static_cast<std::size_t>(std::atoll(predicted));
    } else if (const char* known = value("-known=")) {
      options.known = known;
    } else if (const char* seed = value("-seed=")) {
      options.seed = static_cast<std::uint64_t>(std::atoll(seed));
    } else if (argument == "-believed") {
      options.believed = true;
    } else {
      fmt::print(stderr, "bench_layers: '{}' is not an option\n", argument);
      return 2;
    }
  }
  const attune::Status status = attune::bench::run(options);
  if (!status.ok()) fmt::print(stderr, "bench_layers: {}\n", status.error().message);
  return status.ok() ? 0 : 1;
}
