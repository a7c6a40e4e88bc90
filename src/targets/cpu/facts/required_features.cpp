#include <memory>
#include <set>

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
  std::set<std::string> features;
  const std::string architecture = llvm::Triple(triple).getArchName().str();
  for (const std::string_view name : cpu::known_features(architecture)) {
    if (subtarget->checkFeatures("+" + std::string(name))) features.emplace(name);
  }
  // What the user added counts as well, whether the runtime knows it or not.
  llvm::SmallVector<llvm::StringRef, 16> words;
  llvm::StringRef(added).split(words, ',');
  for (const llvm::StringRef word : words) {
    if (word.starts_with("+")) features.insert(word.drop_front().str());
  }
  return {features.begin(), features.end()};
}

}  // namespace attune::cpu
