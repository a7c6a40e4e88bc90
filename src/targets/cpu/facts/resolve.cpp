#include <fmt/format.h>

#include <array>
#include <fstream>
#include <set>

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/TargetParser/X86TargetParser.h>
#include "runtime/execution/usable_cores.h"
#include "targets/cpu/device/cpu_features.h"
#include "targets/cpu/facts/check_attributes.h"
#include "targets/cpu/facts/facts.h"
#include "targets/cpu/facts/known_caches.h"
#include "targets/cpu/facts/known_machines.h"
#include "targets/cpu/facts/llvm_targets.h"
#include "targets/cpu/facts/machine_here.h"

namespace attune::cpu {
namespace {

// Features worth adding when the CPU has them although its LLVM name does not imply them.
constexpr std::array<std::string_view, 16> kUsefulFeatures = {
    "sse4.1", "sse4.2",  "avx",      "avx2",     "fma",      "f16c",       "bmi",     "bmi2",
    "lzcnt",  "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vnni", "avxvnni", "avx512bf16"};

// Where this machine differs from what its CPU name stands for, as in some virtual machines.
std::set<std::string> x86_differences(const std::string& cpu) {
  llvm::SmallVector<llvm::StringRef, 64> implied;
  llvm::X86::getFeaturesForCPU(cpu, implied, false);
  const std::set<std::string> by_name(implied.begin(), implied.end());
  std::set<std::string> changes;  // sorted: the text is part of keys
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    const std::string name = feature.first().str();
    const bool useful =
        std::find(kUsefulFeatures.begin(), kUsefulFeatures.end(), name) != kUsefulFeatures.end();
    if (!feature.second && by_name.contains(name)) changes.insert("-" + name);
    if (feature.second && useful && !by_name.contains(name)) changes.insert("+" + name);
  }
  return changes;
}

// The same elsewhere; scalable vectors are left alone anyway.
std::set<std::string> other_differences(const llvm::MCSubtargetInfo& by_name) {
  std::set<std::string> changes;
  for (const std::string_view name : known_features(host_architecture())) {
    if (name.starts_with("sve") || has_feature(name)) continue;
    if (by_name.checkFeatures("+" + std::string(name))) changes.insert("-" + std::string(name));
  }
  return changes;
}

// "32K", "1024K", "32M" of sysfs; 0 when it cannot be read.
std::int64_t cache_bytes(int level) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    int found_level = 0;
    std::string type;
    std::int64_t size = 0;
    char unit = 0;
    if (!(std::ifstream(folder + "level") >> found_level)) return 0;
    std::ifstream(folder + "type") >> type;
    if (found_level != level || type == "Instruction") continue;
    std::ifstream file(folder + "size");
    file >> size >> unit;
    return unit == 'M' ? size << 20 : unit == 'K' ? size << 10 : size;
  }
  return 0;
}

void fill_caches(target::Target& target) {
  const auto fill = [](std::int64_t& bytes, int level) {
    if (const std::int64_t found = cache_bytes(level); found > 0) bytes = found;
  };
  fill(target.l1_bytes, 1);
  fill(target.l2_bytes, 2);
  fill(target.l3_bytes, 3);
}

void fill_known_caches(target::Target& target, const llvm::Triple& triple) {
  const auto caches = known_caches(triple.getArchName().str(), target.attribute(kCpu));
  if (!caches) return;
  target.l1_bytes = caches->l1_bytes;
  target.l2_bytes = caches->l2_bytes;
  target.l3_bytes = caches->l3_bytes;
}

// Kernels have vectors of a fixed width, so scalable ones are left alone unless they are asked for.
void leave_out_scalable_vectors(std::string& features, const llvm::MCSubtargetInfo& cpu) {
  if (!cpu.getTargetTriple().isAArch64() || !cpu.checkFeatures("+sve")) return;
  if (features.find("sve") != std::string::npos) return;
  features += features.empty() ? "-sve" : ",-sve";
}

// A processor that has none of AVX-512 by its name gets what is added of it without its registers
// of 64 bytes, and LLVM's code generator fails on their vectors. Those of 32 bytes alone must be
// asked for.
void add_wide_registers(std::string& features, const llvm::MCSubtargetInfo& by_name,
                        const llvm::MCSubtargetInfo& cpu) {
  if (!cpu.getTargetTriple().isX86() || by_name.checkFeatures("+evex512")) return;
  const bool narrow = features.find("evex512") != std::string::npos ||
                      features.find("avx10.1") != std::string::npos;
  if (cpu.checkFeatures("+avx512f") && !narrow) features += ",+evex512";
}

void fill_vector_facts(target::Target& target, const llvm::MCSubtargetInfo& cpu) {
  const llvm::Triple& triple = cpu.getTargetTriple();
  if (!triple.isX86()) {
    target.vector_bytes = 16;
    target.vector_registers = 32;
    target.fma = triple.isAArch64();
    return;
  }
  target.vector_bytes = cpu.checkFeatures("+avx512f,+evex512") ? 64
                        : cpu.checkFeatures("+avx")            ? 32
                                                               : 16;
  target.vector_registers = cpu.checkFeatures("+avx512f") ? 32 : 16;
  target.fma = cpu.checkFeatures("+fma");
  target.masked_bytes = cpu.checkFeatures("+avx512bw") ? 1 : cpu.checkFeatures("+avx") ? 4 : 0;
}

// One architecture has one name: "amd64" is "x86_64".
std::string canonical(const std::string& text) {
  llvm::Triple triple(llvm::Triple::normalize(text));
  if (triple.getArch() != llvm::Triple::UnknownArch) triple.setArch(triple.getArch());
  return triple.str();
}

// `written` is the triple in the person's words.
Result<const llvm::Target*> find_target(const std::string& triple, std::string_view written) {
  std::string why;
  const llvm::Target* known = llvm::TargetRegistry::lookupTarget(triple, why);
  if (known == nullptr) {
    return invalid(fmt::format("unknown target triple '{}'", written),
                   "use a triple such as x86_64-linux-gnu or aarch64-linux-gnu");
  }
  ATTUNE_RETURN_IF_ERROR(check_triple(llvm::Triple(triple), written));
  return known;
}

std::set<std::string> differences_here(const llvm::Target& known, const llvm::Triple& host,
                                       const std::string& cpu) {
  if (host.isX86()) return x86_differences(cpu);
  const std::unique_ptr<llvm::MCSubtargetInfo> by_name(
      known.createMCSubtargetInfo(host.str(), cpu, ""));
  return other_differences(*by_name);
}

// What the person wrote comes last, where it counts.
std::string joined(const std::set<std::string>& changes, const std::string& written) {
  const std::string before = fmt::format("{}", fmt::join(changes, ","));
  return before + (before.empty() || written.empty() ? "" : ",") + written;
}

}  // namespace

Result<target::Target> resolve(const target::Target& target) {
  initialize_llvm();
  target::Target resolved = target;
  const llvm::Triple host(llvm::sys::getProcessTriple());
  const std::string triple = canonical(
      target.attribute(kTriple).empty() ? host.str() : std::string(target.attribute(kTriple)));
  resolved.set(kTriple, triple);
  ATTUNE_ASSIGN(const llvm::Target* known, find_target(triple, target.attribute(kTriple)));
  const bool same_architecture = llvm::Triple(triple).getArch() == host.getArch();
  const std::string host_cpu = llvm::sys::getHostCPUName().str();
  const std::unique_ptr<llvm::MCSubtargetInfo> plain(known->createMCSubtargetInfo(triple, "", ""));
  CHECK(plain != nullptr, "LLVM has no processors for " + triple);
  std::string cpu(target.attribute(kCpu));
  std::string features(target.attribute(kFeatures));
  ATTUNE_RETURN_IF_ERROR(check_features(*plain, features));
  if (cpu.empty() || cpu == "native") {
    cpu = same_architecture ? host_cpu : "generic";
    if (same_architecture) features = joined(differences_here(*known, host, cpu), features);
  }
  ATTUNE_RETURN_IF_ERROR(check_cpu_name(*plain, cpu, same_architecture ? host_cpu : ""));
  const auto processor = [&](const std::string& with) {
    return std::unique_ptr<llvm::MCSubtargetInfo>(known->createMCSubtargetInfo(triple, cpu, with));
  };
  add_wide_registers(features, *processor(""), *processor(features));
  const auto subtarget = processor(features);
  ATTUNE_RETURN_IF_ERROR(check_runs_kernels(*subtarget));
  leave_out_scalable_vectors(features, *subtarget);
  resolved.set(kCpu, cpu);
  resolved.set(kFeatures, features);
  fill_vector_facts(resolved, *subtarget);
  if (resolved.threads == 0) {
    resolved.threads = static_cast<int>(runtime::usable_cores().size());
  }
  if (same_architecture && cpu == host_cpu) {
    fill_caches(resolved);
    resolved.machine = machine_here(resolved);
  } else {
    const llvm::Triple other(triple);
    fill_known_caches(resolved, other);
    resolved.machine = known_machine(other.getArchName().str(), cpu);
  }
  return resolved;
}

}  // namespace attune::cpu
