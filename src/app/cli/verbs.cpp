#include "app/cli/verbs.h"

#include <fmt/format.h>

#include <new>
#include <vector>

#include "app/verbs/version_text.h"
#include "base/nearest.h"

namespace attune::cli {
namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

std::string help_page() {
  std::string page =
      "usage: attune COMMAND [argument]... [option]...\n\n"
      "Finds out by measuring which program runs a model or an operator fastest on this machine.\n"
      "A model is an ONNX file, an artifact (.attune), a name of the zoo (resnet18) or an "
      "operator\n"
      "(matmul:m=1024,n=1024,k=1024).\n\n"
      "commands:\n";
  for (const Verb& verb : verbs()) {
    if (!verb.summary.empty()) page += fmt::format("  {:<10} {}\n", verb.name, verb.summary);
  }
  page +=
      "\n'attune COMMAND --help' shows its options and examples; 'attune --version' the version.\n"
      "\nexamples:\n"
      "  attune compile resnet18 -o resnet18.attune\n"
      "      compiles a model of the zoo with the best schedules known\n"
      "  attune run resnet18.attune --top 5\n"
      "      runs it on random numbers\n"
      "  attune tune matmul:m=1024,n=1024,k=1024\n"
      "      tunes a matrix product for all cores of this machine\n"
      "  attune bench conv2d:h=56,w=56,ic=64,oc=64,kh=3,kw=3,pad=1 --threads 1\n"
      "      times a convolution with the best schedule known\n";
  return page;
}

// A usage error is one that InvalidArgument names: what was typed makes no sense.
int status_of(const Error& error) {
  return error.code == ErrorCode::InvalidArgument ? kWrongUsage : kFailed;
}

Result<int> run_words(Words words, Console& console) {
  if (!words.empty() && (words[0] == "--help" || words[0] == "-h" || words[0] == "help")) {
    ATTUNE_RETURN_IF_ERROR(console.print(help_page()));
    return 0;
  }
  if (!words.empty() && words[0] == "--version") {
    ATTUNE_RETURN_IF_ERROR(console.print(fmt::format("attune {}\n", verbs::version_text())));
    return 0;
  }
  return dispatch("", verbs(), words, console);
}

// Memory that runs out is told by an exception, wherever it happens.
Result<int> run_guarded(Words words, Console& console) {
  try {
    return run_words(words, console);
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::Exhausted, "this machine has too little memory for that",
                 "use smaller shapes, or free memory"};
  }
}

}  // namespace

std::span<const Verb> verbs() {
  static constexpr Verb all[] = {
#define ATTUNE_VERB(name, summary, run) {name, summary, run},
#include "app/cli/list.inc"
  };
  return all;
}

Result<int> dispatch(std::string_view prefix, std::span<const Verb> among, Words words,
                     Console& console) {
  const std::string hint = fmt::format("'attune {}--help' lists the commands", prefix);
  if (words.empty()) return invalid("no command given", hint);
  std::vector<std::string> names;
  for (const Verb& verb : among) {
    if (verb.name == words[0]) return verb.run(words.subspan(1), console);
    if (!verb.summary.empty()) names.emplace_back(verb.name);
  }
  const bool option = words[0].starts_with('-');
  const std::string guess = option ? "" : nearest(words[0], names);
  return invalid(fmt::format("unknown {} '{}{}'", option ? "option" : "command", prefix, words[0]),
                 guess.empty() ? hint : fmt::format("did you mean '{}{}'?", prefix, guess));
}

int run_program(Words words) {
  Console console;
  const Result<int> status = run_guarded(words, console);
  console.end_progress_line();
  if (status.ok()) return *status;
  console.error(status.error());
  return status_of(status.error());
}

}  // namespace attune::cli
