#include <fmt/format.h>

#include "app/cli/shared_options.h"
#include "app/cli/verbs.h"
#include "app/signing/keys.h"

namespace attune::cli {
namespace {

Result<int> run_new(Words arguments, Console& console) {
  CommandLine line(
      "key new",
      "Makes a key that signs artifacts: FILE, which stays with you, and FILE.pub, for "
      "those who trust you.");
  Speech speech;
  std::string file;
  line.required("FILE", file, "the private key to write; never one that exists");
  add_speech_options(line, speech, "");
  line.example("key new release.key", "release.key and release.key.pub");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    ATTUNE_RETURN_IF_ERROR(signing::new_key(file));
    const std::string open = signing::public_path(file);
    console.note(fmt::format("wrote {} and {}", file, open));
    console.note(fmt::format("next: attune compile MODEL -o MODEL.attune --sign {}", file));
    console.note(fmt::format("      attune run MODEL.attune --trust {}", open));
    return 0;
  });
}

constexpr Verb kKeyVerbs[] = {
    {"new", "makes a key that signs artifacts", run_new},
};

}  // namespace

Result<int> run_key(Words arguments, Console& console) {
  if (!arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h")) {
    std::string page = "usage: attune key COMMAND [argument]... [option]...\n\ncommands:\n";
    for (const Verb& verb : kKeyVerbs) {
      page += fmt::format("  {:<10} {}\n", verb.name, verb.summary);
    }
    page +=
        "\nexamples:\n  attune key new release.key\n"
        "      a key for 'compile --sign release.key' and 'run --trust release.key.pub'\n";
    ATTUNE_RETURN_IF_ERROR(console.print(page));
    return 0;
  }
  return dispatch("key ", kKeyVerbs, arguments, console);
}

}  // namespace attune::cli
