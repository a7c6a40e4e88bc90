#include "app/cli/shared_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>

#include "base/cage/cage.h"
#include "base/file_system.h"

namespace attune::cli {

namespace {

// What each text says of an input, by the inputs' names; `what` that is, in the error.
template <typename Value>
Result<std::map<std::string, Value, std::less<>>> by_input(
    const std::vector<std::string>& texts,
    Result<std::pair<std::string, Value>> (*parse)(const std::string&), std::string_view what) {
  std::map<std::string, Value, std::less<>> found;
  for (const std::string& text : texts) {
    ATTUNE_ASSIGN(auto each, parse(text));
    const std::string name = each.first;
    if (!found.insert(std::move(each)).second) {
      return invalid(fmt::format("the {} of input '{}' is given twice", what, name));
    }
  }
  return found;
}

}  // namespace

ModelArguments::ModelArguments(CommandLine& line, bool required) {
  const std::string meaning =
      "a model: a file, a name such as resnet18, or matmul:m=1024,n=1024,k=1024";
  if (required) {
    line.required("MODEL", options_.model, meaning);
  } else {
    line.optional("MODEL", options_.model, meaning);
  }
  line.text("--target", "T", options_.target, "compile for T, e.g. 'cpu -mcpu=znver3' (this CPU)");
  line.number("--threads", "N", threads_, 1, 1024, "use N threads (one per core)");
  line.flag("--exact", options_.exact, "direct algorithms only, no Winograd");
  line.text("--precision", "TYPE", precision_,
            "compute products in f32, tf32, f16 or bf16, sums in f32 (f32)");
}

Result<model::ModelOptions> ModelArguments::take() const {
  model::ModelOptions options = options_;
  if (threads_) options.threads = static_cast<int>(*threads_);
  if (!precision_.empty()) {
    ATTUNE_ASSIGN(options.precision, ops::parse_precision(precision_));
  }
  return options;
}

ShapeArguments::ShapeArguments(CommandLine& line) {
  line.texts("--shape", "NAME=LIST", texts_, "the shape of an input, e.g. x=1,3,224,224");
}

Result<model::Shapes> ShapeArguments::take() const {
  return by_input(texts_, model::parse_shape, "shape");
}

ConstantArguments::ConstantArguments(CommandLine& line) {
  line.texts("--constant", "NAME=VALUE", texts_,
             "fix an input while compiling: numbers, or a .npy file");
}

Result<model::Constants> ConstantArguments::take() const {
  return by_input(texts_, model::parse_constant, "value");
}

MaximumArguments::MaximumArguments(CommandLine& line) {
  line.texts("--max", "NAME=N", texts_,
             "how large an input can be that a size follows from, e.g. k=10");
}

Result<model::Shapes> MaximumArguments::take() const {
  return by_input(texts_, model::parse_maximum, "largest value");
}

WholeModelArguments::WholeModelArguments(CommandLine& line, bool required)
    : model(line, required), shapes(line), constants(line), maxima(line) {}

Result<model::ModelOptions> WholeModelArguments::take() const {
  ATTUNE_ASSIGN(model::ModelOptions options, model.take());
  ATTUNE_ASSIGN(options.shapes, shapes.take());
  ATTUNE_ASSIGN(options.constants, constants.take());
  ATTUNE_ASSIGN(options.maxima, maxima.take());
  return options;
}

Result<std::vector<model::NamedFile>> named_files(const std::vector<std::string>& texts) {
  std::vector<model::NamedFile> files;
  for (const std::string& text : texts) {
    ATTUNE_ASSIGN(model::NamedFile file, model::parse_named_file(text));
    files.push_back(std::move(file));
  }
  return files;
}

InputArguments::InputArguments(CommandLine& line) {
  line.texts("--input", "NAME=FILE", texts_, "read an input from a .npy or .npz file; repeatable");
}

BudgetArguments::BudgetArguments(CommandLine& line, const std::string& trials_meaning) {
  line.number("--trials", "N", trials_, 1, 100'000'000, trials_meaning);
  line.real("--seconds", "S", seconds_, 0.01, 1e7, "stop after S seconds of tuning");
  line.text("--until-latency", "TIME", until_latency_,
            "stop when it is as fast as TIME, e.g. 12ms");
}

Result<std::optional<double>> BudgetArguments::until_latency_ms() const {
  const std::string& text = until_latency_;
  if (text.empty()) return std::optional<double>();
  const std::size_t digits = text.find_first_not_of("0123456789.");
  const std::string unit = digits == std::string::npos ? "ms" : text.substr(digits);
  const double scale = unit == "us" || unit == "µs" ? 1e-3 : unit == "s" ? 1e3 : 1;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool whole = end == text.c_str() + (digits == std::string::npos ? text.size() : digits);
  if (digits == 0 || !whole || value <= 0 || (scale == 1 && unit != "ms")) {
    return invalid(fmt::format("--until-latency '{}' is no time", text),
                   "write it as 12ms, 350us or 0.5s");
  }
  return std::optional<double>(value * scale);
}

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    words.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::function<void(std::size_t done, std::size_t all)> compile_progress(Console& console) {
  if (!console.is_terminal()) return {};
  auto mutex = std::make_shared<std::mutex>();
  return [&console, mutex](std::size_t done, std::size_t all) {
    const std::lock_guard lock(*mutex);
    console.progress_line(fmt::format("compiling: {} of {} kernels", done, all));
    if (done == all) console.clear_progress_line();
  };
}

void tell_fallbacks(const model::Fallbacks& fallbacks, Console& console) {
  if (fallbacks.empty()) return;
  if (!console.verbose()) console.note("warning: " + model::summarize(fallbacks));
  for (const model::Fallback& fallback : fallbacks) console.detail(model::describe(fallback));
}

void add_store_options(CommandLine& line, std::string& records, std::string& history) {
  line.text("--records", "PATH", records, "the records file (~/.local/share/attune/records.db)");
  line.text("--history", "PATH", history, "start from the records of PATH too; none: from nothing");
}

void add_schedule_options(CommandLine& line, model::ScheduleOptions& options) {
  add_store_options(line, options.records, options.history);
  line.text("--schedule", "FILE", options.file, "use the schedule (a trace) of FILE");
  line.flag("--default", options.use_default, "use the default schedule, whatever is known");
}

void add_speech_options(CommandLine& line, Speech& speech, const std::string& json_meaning) {
  if (!json_meaning.empty()) line.flag("--json", speech.json, json_meaning);
  line.flag("-v,--verbose", speech.verbose, "say more");
  line.flag("-q,--quiet", speech.quiet, "say nothing but results and errors");
}

Result<int> perform(CommandLine& line, Words arguments, const Speech& speech, Console& console,
                    const std::function<Result<int>()>& action) {
  ATTUNE_ASSIGN(const Parsed parsed, line.parse(arguments));
  if (parsed == Parsed::Help) {
    ATTUNE_RETURN_IF_ERROR(console.print(line.help()));
    return 0;
  }
  console.set_quiet(speech.quiet);
  console.set_verbose(speech.verbose);
  return action();
}

void tell_precision(const model::ModelOptions& options, std::string_view computed_in,
                    Console& console) {
  if (!options.precision || ops::name_of(*options.precision) == computed_in) return;
  console.note(fmt::format("the target has no units for {}: it is computed in {}",
                           ops::name_of(*options.precision), computed_in));
}

void tell_missing_cage_parts(Console& console) {
  const std::vector<std::string> missing = missing_cage_parts();
  if (missing.empty()) return;
  console.note(fmt::format("the cage around kernels is not whole on this system: {}",
                           fmt::join(missing, ", ")));
}

void tell_network_records(Console& console, const std::string& records) {
  const auto path = model::records_path(records);
  const auto network = path.ok() ? network_file_system(*path) : std::nullopt;
  if (!network) return;
  console.note(
      fmt::format("records '{}' lie on a network file system ({}): use them from one machine at a "
                  "time, or name a local file with --records PATH",
                  *path, *network));
}

}  // namespace attune::cli
