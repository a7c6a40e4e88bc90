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
std::string host_differences(const std::string& cpu) {
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
  return fmt::format("{}", fmt::join(changes, ","));
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

void fill_vector_facts(target::Target& target, const llvm::MCSubtargetInfo& cpu) {
  const llvm::Triple& triple = cpu.getTargetTriple();
  if (!triple.isX86()) {
    target.vector_bytes = 16;
    target.vector_registers = 32;
    target.fma = triple.isAArch64();
    return;
  }
  const bool avx512 = cpu.checkFeatures("+avx512f");
  target.vector_bytes = avx512 ? 64 : cpu.checkFeatures("+avx") ? 32 : 16;
  target.vector_registers = avx512 ? 32 : 16;
  target.fma = cpu.checkFeatures("+fma");
  target.masked_bytes = cpu.checkFeatures("+avx512bw") ? 1 : cpu.checkFeatures("+avx") ? 4 : 0;
}

}  // namespace

Result<target::Target> resolve(const target::Target& target) {
  initialize_llvm();
  target::Target resolved = target;
  const llvm::Triple host(llvm::sys::getProcessTriple());
  const std::string triple = llvm::Triple::normalize(
      target.attribute(kTriple).empty() ? host.str() : std::string(target.attribute(kTriple)));
  resolved.set(kTriple, triple);
  std::string why;
  const llvm::Target* known = llvm::TargetRegistry::lookupTarget(triple, why);
  if (known == nullptr) {
    return invalid(fmt::format("unknown target triple '{}'", target.attribute(kTriple)),
                   "use a triple such as x86_64-linux-gnu or aarch64-linux-gnu");
  }
  const bool same_architecture = llvm::Triple(triple).getArch() == host.getArch();
  const std::string host_cpu = llvm::sys::getHostCPUName().str();
  std::string cpu(target.attribute(kCpu));
  std::string features(target.attribute(kFeatures));
  if (cpu.empty() || cpu == "native") {
    cpu = same_architecture ? host_cpu : "generic";
    if (same_architecture && host.isX86() && features.empty()) features = host_differences(cpu);
  }
  std::unique_ptr<llvm::MCSubtargetInfo> plain(known->createMCSubtargetInfo(triple, "", ""));
  if (plain == nullptr || !plain->isCPUStringValid(cpu)) {
    return invalid(fmt::format("unknown CPU '{}' for {}", cpu, triple),
                   fmt::format("use an LLVM CPU name such as znver3, skylake or cortex-a72; this "
                               "machine is '{}'",
                               host_cpu));
  }
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      known->createMCSubtargetInfo(triple, cpu, features));
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
