#include "app/api/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/shared_options.h"
#include "app/cli/verbs.h"

namespace attune::cli {
namespace {

std::string row_of(std::string_view kind, const api::TensorSummary& tensor) {
  std::string row = fmt::format("{:<7} {:<10} {}[{}]  min {:.6g}  max {:.6g}  mean {:.6g}", kind,
                                tensor.name, tensor.type, fmt::join(tensor.shape, ", "),
                                tensor.least, tensor.most, tensor.mean);
  if (tensor.random) row += "  (random)";
  if (!tensor.path.empty()) row += "  " + tensor.path;
  row += "\n";
  for (const api::TopElement& element : tensor.top) {
    row += fmt::format("        [{}]  {:.6g}\n", fmt::join(element.index, ", "), element.value);
  }
  return row;
}

std::string page_of(const api::RunReport& report) {
  std::string page = fmt::format("{}  with {}, {:.4g} ms\n", report.model, report.schedule_text,
                                 report.milliseconds);
  for (const api::TensorSummary& tensor : report.inputs) page += row_of("input", tensor);
  for (const api::TensorSummary& tensor : report.outputs) page += row_of("output", tensor);
  return page;
}

}  // namespace

Result<int> run_run(Words arguments, Console& console) {
  CommandLine line("run", "Runs an operator once, on given inputs or on random ones.");
  api::RunOptions options;
  Speech speech;
  std::vector<std::string> inputs;
  std::optional<std::int64_t> top, seed;
  const ModelArguments model(line);
  line.texts("--input", "NAME=FILE", inputs, "read an input from a .npy file; may be repeated");
  line.text("--output", "DIR", options.output, "write one .npy file per output into DIR");
  line.number("--top", "K", top, 1, 1000, "show the K largest elements of each output");
  line.number("--seed", "N", seed, 0, INT64_MAX, "of the random inputs (0)");
  add_schedule_options(line, options.schedule);
  add_speech_options(line, speech, "print one JSON document");
  line.example("run softmax:m=1,n=10 --top 3", "a softmax of random numbers");
  line.example("run matmul:m=64,n=64,k=64 --input a=x.npy --input b=y.npy --output out",
               "the product of two files, in out/anchor.npy");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    options.model = model.take();
    options.top = static_cast<int>(top.value_or(0));
    options.seed = static_cast<std::uint64_t>(seed.value_or(0));
    for (const std::string& text : inputs) {
      ATTUNE_ASSIGN(api::NamedFile file, api::parse_named_file(text));
      options.inputs.push_back(std::move(file));
    }
    ATTUNE_ASSIGN(const api::RunReport report, api::run(options));
    ATTUNE_RETURN_IF_ERROR(
        console.print(speech.json ? api::to_json(report) + "\n" : page_of(report)));
    return 0;
  });
}

}  // namespace attune::cli
