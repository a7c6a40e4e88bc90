#include "app/verbs/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

#include "app/cli/shared_options.h"
#include "app/cli/signing_arguments.h"
#include "app/cli/verbs.h"

namespace attune::cli {
namespace {

std::string row_of(std::string_view kind, const tensor_files::TensorSummary& tensor) {
  std::string row = fmt::format("{:<7} {:<10} {}[{}]  min {:.6g}  max {:.6g}  mean {:.6g}", kind,
                                tensor.name, tensor.type, fmt::join(tensor.shape, ", "),
                                tensor.least, tensor.most, tensor.mean);
  if (tensor.random) row += "  (random)";
  if (!tensor.path.empty()) row += "  " + tensor.path;
  row += "\n";
  for (const tensor_files::TopElement& element : tensor.top) {
    row += fmt::format("        [{}]  {:.6g}\n", fmt::join(element.index, ", "), element.value);
  }
  return row;
}

std::string page_of(const verbs::RunReport& report) {
  std::string page = fmt::format("{}  with {}, {:.4g} ms\n", report.model, report.schedule_text,
                                 report.milliseconds);
  for (const tensor_files::TensorSummary& tensor : report.inputs) page += row_of("input", tensor);
  for (const tensor_files::TensorSummary& tensor : report.outputs) page += row_of("output", tensor);
  return page;
}

// "0.485,0.456,0.406"
Result<std::vector<double>> numbers(std::string_view option, const std::string& text) {
  std::vector<double> values;
  const char* next = text.data();
  const char* const end = next + text.size();
  while (next != end) {
    double value = 0;
    const auto parsed = std::from_chars(next, end, value);
    const bool more = parsed.ptr != end && *parsed.ptr == ',' && parsed.ptr + 1 != end;
    if (parsed.ec != std::errc() || !std::isfinite(value) || (parsed.ptr != end && !more)) {
      return invalid(fmt::format("{} is '{}', which is not a list of numbers", option, text),
                     fmt::format("write {} 0.485,0.456,0.406", option));
    }
    values.push_back(value);
    next = more ? parsed.ptr + 1 : end;
  }
  return values;
}

}  // namespace

Result<int> run_run(Words arguments, Console& console) {
  CommandLine line("run", "Runs a model or an operator once, on given inputs or on random ones.");
  verbs::RunOptions options;
  Speech speech;
  std::vector<std::string> images;
  std::string mean, deviation, resize;
  std::optional<double> scale, timeout;
  std::optional<std::int64_t> top, seed;
  const WholeModelArguments model(line);
  const InputArguments inputs(line);
  const TrustArguments trust(line);
  line.texts("--image", "NAME=FILE", images, "read an input from a picture (PPM, PGM); repeatable");
  line.real("--scale", "X", scale, 1e-9, 1e9, "multiply pixels (0 to 255) by X (1/255)");
  line.text("--mean", "LIST", mean, "then subtract these, one for all channels or one each");
  line.text("--std", "LIST", deviation, "then divide by these");
  line.text("--resize", "HOW", resize, "linear or nearest (linear)");
  line.text("--output", "DIR", options.output, "write one .npy file per output into DIR");
  line.number("--top", "K", top, 1, 1000, "show the K largest elements of each output");
  line.number("--seed", "N", seed, 0, INT64_MAX, "of the random inputs (0)");
  line.real("--timeout", "S", timeout, 0.1, 1e6, "give up after S seconds (3600)");
  add_schedule_options(line, options.source.schedule);
  add_speech_options(line, speech, "print one JSON document");
  line.example("run resnet18 --top 5", "a model of the zoo on a random image");
  line.example(
      "run resnet18.attune --image input=cat.ppm --mean 0.485,0.456,0.406 --std "
      "0.229,0.224,0.225 --top 5",
      "an artifact on a picture");
  line.example("run matmul:m=64,n=64,k=64 --input a=x.npy --input b=y.npy --output out",
               "the product of two files, in out/output.npy");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    ATTUNE_ASSIGN(options.source.model, model.take());
    ATTUNE_ASSIGN(options.source.trust, trust.take());
    options.top = static_cast<int>(top.value_or(0));
    options.seed = static_cast<std::uint64_t>(seed.value_or(0));
    options.timeout_seconds = timeout.value_or(options.timeout_seconds);
    ATTUNE_ASSIGN(options.files.inputs, inputs.take());
    ATTUNE_ASSIGN(options.files.images, named_files(images));
    ATTUNE_ASSIGN(options.files.image.mean, numbers("--mean", mean));
    ATTUNE_ASSIGN(options.files.image.deviation, numbers("--std", deviation));
    if (scale) options.files.image.scale = *scale;
    if (!resize.empty() && resize != "linear" && resize != "nearest") {
      return invalid(fmt::format("--resize is '{}'", resize), "choose linear or nearest");
    }
    options.files.image.nearest = resize == "nearest";
    options.source.progress = compile_progress(console);
    ATTUNE_ASSIGN(const verbs::RunReport report, verbs::run(options));
    tell_precision(options.source.model, report.precision, console);
    ATTUNE_RETURN_IF_ERROR(
        console.print(speech.json ? verbs::to_json(report) + "\n" : page_of(report)));
    tell_fallbacks(report.fallbacks, console);
    return 0;
  });
}

}  // namespace attune::cli
