#include <memory>
#include <set>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/TargetParser/Triple.h>

#include "base/check.h"
#include "targets/cpu/device/cpu_features.h"
#include "targets/cpu/facts/facts.h"
#include "targets/cpu/facts/llvm_targets.h"

namespace attune::cpu {

std::vector<std::string> required_features(const target::Target& resolved) {
  initialize_llvm();
  const std::string triple(resolved.attribute(kTriple)), cpu(resolved.attribute(kCpu)),
      added(resolved.attribute(kFeatures));
  std::string why;
  const llvm::Target* known = llvm::TargetRegistry::lookupTarget(triple, why);
  CHECK(known != nullptr, "the target " + triple + " is not resolved");
  const std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      known->createMCSubtargetInfo(triple, cpu, added));
  const auto enabled = [&](std::string_view name) {
    return subtarget->checkFeatures("+" + std::string(name));
  };
  const std::string architecture = llvm::Triple(triple).getArchName().str();
  std::set<std::string> features;
  for (const std::string_view name : known_features(architecture)) {
    if (enabled(name)) features.emplace(name);
  }
  // Processors by name have others too, which hardly any code uses: those are asked for where they
  // were added. What else -mattr says, such as which vectors to prefer, code runs without.
  llvm::SmallVector<llvm::StringRef, 16> words;
  llvm::StringRef(added).split(words, ',');
  for (const std::string_view name : added_features(architecture)) {
    const std::string word = "+" + std::string(name);
    if (llvm::is_contained(words, word) && enabled(name)) features.emplace(name);
  }
  return {features.begin(), features.end()};
}

}  // namespace attune::cpu
