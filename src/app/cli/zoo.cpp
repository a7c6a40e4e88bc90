#include "app/verbs/zoo.h"

#include <fmt/format.h>

#include "app/cli/shared_options.h"
#include "app/cli/verbs.h"

namespace attune::cli {
namespace {

Result<int> run_list(Words arguments, Console& console) {
  CommandLine line("zoo list", "Lists the models that Attune brings along.");
  Speech speech;
  add_speech_options(line, speech, "print one JSON document");
  line.example("zoo list", "their names, for every command that takes a model");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    const auto models = verbs::zoo_models();
    std::string page;
    for (const auto& model : models) page += fmt::format("{:<14} {}\n", model.name, model.what);
    ATTUNE_RETURN_IF_ERROR(console.print(speech.json ? verbs::to_json(models) + "\n" : page));
    return 0;
  });
}

Result<int> run_export(Words arguments, Console& console) {
  CommandLine line("zoo export", "Writes a model of the zoo as an ONNX file.");
  Speech speech;
  std::string model, output;
  line.required("MODEL", model, "a name that 'zoo list' shows");
  line.text("-o,--output", "FILE", output, "the file to write (MODEL.onnx)");
  add_speech_options(line, speech, "");
  line.example("zoo export resnet18 -o resnet18.onnx", "for other runtimes to run the same model");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    if (output.empty()) output = model + ".onnx";
    ATTUNE_RETURN_IF_ERROR(verbs::export_zoo_model(model, output));
    console.note(fmt::format("wrote {}", output));
    return 0;
  });
}

constexpr Verb kZooVerbs[] = {
    {"list", "lists the models", run_list},
    {"export", "writes a model as an ONNX file", run_export},
};

}  // namespace

Result<int> run_zoo(Words arguments, Console& console) {
  if (!arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h")) {
    std::string page =
        "usage: attune zoo [COMMAND] [argument]... [option]...\n\n"
        "Without a command: list.\n\ncommands:\n";
    for (const Verb& verb : kZooVerbs) {
      page += fmt::format("  {:<10} {}\n", verb.name, verb.summary);
    }
    page += "\nexamples:\n  attune zoo export resnet18\n      the model as resnet18.onnx\n";
    ATTUNE_RETURN_IF_ERROR(console.print(page));
    return 0;
  }
  if (arguments.empty() || arguments[0].starts_with('-')) return run_list(arguments, console);
  return dispatch("zoo ", kZooVerbs, arguments, console);
}

}  // namespace attune::cli
