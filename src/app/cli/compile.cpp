#include "app/verbs/compile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "app/cli/shared_options.h"
#include "app/cli/signing_arguments.h"
#include "app/cli/verbs.h"
#include "app/verbs/stages.h"

namespace attune::cli {
namespace {

std::vector<std::string> split_at_commas(const std::vector<std::string>& lists) {
  std::vector<std::string> words;
  for (const std::string& list : lists) {
    std::istringstream stream(list);
    for (std::string word; std::getline(stream, word, ',');) {
      if (!word.empty()) words.push_back(word);
    }
  }
  return words;
}

constexpr std::string_view kHelp = "help";  // in the place of a stage: which there are

// What needs no model.
bool asks_for_stages(Words arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool follows = i > 0 && arguments[i - 1] == "--emit";
    if (arguments[i] == "--emit=help" || (follows && arguments[i] == kHelp)) return true;
  }
  return false;
}

std::string page_of(const std::vector<verbs::EmittedStage>& stages) {
  std::string page;
  for (const verbs::EmittedStage& stage : stages) {
    if (stages.size() > 1) page += fmt::format("// {}\n", stage.name);
    page += stage.text;
    if (!page.ends_with('\n')) page += '\n';
    if (stages.size() > 1) page += '\n';
  }
  return page;
}

// What was made, in a line.
std::string summary_of(const verbs::CompileReport& report) {
  if (report.shared_object) {
    return fmt::format("compiled {} with {}: {} ({} bytes, {:.1f} ms, {} vector spills)",
                       report.model, report.schedule_text, fmt::join(report.kernels, ", "),
                       report.code_bytes, report.seconds * 1e3, report.vector_spills);
  }
  constexpr double kMb = 1e6;
  return fmt::format(
      "compiled {} in {:.1f} s: {} kernels, {:.1f} MB of weights, {:.1f} MB of memory for a run",
      report.model, report.seconds, report.kernels.size(),
      static_cast<double>(report.weight_bytes) / kMb, static_cast<double>(report.peak_bytes) / kMb);
}

std::string looked_at(const verbs::CompileReport& report) {
  return fmt::format("looked at {} {} for {:.1f} s: {} {} faster than by default", report.looked,
                     report.looked == 1 ? "task" : "tasks", report.look_seconds,
                     report.looked_better, report.looked_better == 1 ? "is" : "are");
}

Status print_report(const verbs::CompileReport& report, const verbs::CompileOptions& options,
                    const Speech& speech, Console& console) {
  tell_precision(options.source.model, report.precision, console);
  ATTUNE_RETURN_IF_ERROR(
      console.print(speech.json ? verbs::to_json(report) + "\n" : page_of(report.stages)));
  for (const verbs::PassTime& pass : report.passes) {
    console.detail(fmt::format("{:>9.2f} ms  {}", pass.milliseconds, pass.name));
  }
  tell_fallbacks(report.fallbacks, console);
  if (!report.look_refused.empty()) console.note(report.look_refused);
  if (report.looked > 0) console.note(looked_at(report));
  console.note(summary_of(report));
  if (!options.output.empty()) console.note(fmt::format("wrote {}", options.output));
  return {};
}

}  // namespace

Result<int> run_compile(Words arguments, Console& console) {
  CommandLine line("compile",
                   "Compiles a model to an artifact, or an operator to a shared object, with the "
                   "best schedules known, and prints any stage on the way.");
  verbs::CompileOptions options;
  Speech speech;
  std::vector<std::string> emit, disabled;
  bool no_look = false;
  const WholeModelArguments model(line, !asks_for_stages(arguments));
  line.texts("--emit", "STAGES", emit,
             fmt::format("print stages: {}, or passes; help says what each is",
                         verbs::names_without_passes()));
  line.text("-o,--output", "FILE", options.output,
            "write the artifact, or the directory of C sources; of an operator a shared object "
            "unless FILE ends in .attune");
  const SignArguments sign(line);
  line.text("--format", "NAME", options.format.name,
            "artifact, or c: sources that need no runtime");
  line.text("--weights", "FORM", options.format.weights,
            "of C sources: array (up to 33.6 MB), or file, which the program reads");
  line.texts("--disable-pass", "NAME", disabled, "leave out a graph pass of a model; repeatable");
  add_schedule_options(line, options.source.schedule);
  line.flag("--no-look", no_look, "time nothing: default schedules where nothing is known");
  add_speech_options(line, speech, "print one JSON document");
  line.example("compile resnet18 -o resnet18.attune", "a model of the zoo as an artifact");
  line.example("compile resnet18 --precision f16 -o half.attune",
               "with weights and products in f16, half as large");
  line.example("compile mobilenet_v2 --format c -o mobilenet_c",
               "as C sources, with the command that compiles them in mobilenet_v2.h");
  line.example("compile model.onnx --shape x=1,3,224,224 --emit=graph,tasks",
               "an ONNX file's graph after all passes, and its tasks");
  line.example("compile --emit=help", "what can be printed, in the order in which it happens");
  line.example("compile matmul:m=64,n=64,k=64 --emit=te,trace,loops",
               "the operator, its schedule and the loops that come of them");
  line.example("compile depthwise:h=56,w=56,c=64,k=3 --emit=asm --target 'cpu -mcpu=znver3'",
               "assembly for another CPU");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    options.emit = split_at_commas(emit);
    if (std::find(options.emit.begin(), options.emit.end(), kHelp) != options.emit.end()) {
      ATTUNE_RETURN_IF_ERROR(console.print(verbs::stages_page()));
      return 0;
    }
    ATTUNE_ASSIGN(options.source.model, model.take());
    ATTUNE_ASSIGN(options.format.sign, sign.take());
    options.source.model.disabled_passes = split_at_commas(disabled);
    options.source.progress = compile_progress(console);
    options.look = !no_look;
    ATTUNE_ASSIGN(const verbs::CompileReport report, verbs::compile(options));
    ATTUNE_RETURN_IF_ERROR(print_report(report, options, speech, console));
    return 0;
  });
}

}  // namespace attune::cli
