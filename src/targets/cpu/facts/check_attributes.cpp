#include "targets/cpu/facts/check_attributes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/TargetParser/Triple.h>
#include "targets/cpu/facts/known_caches.h"

namespace attune::cpu {
namespace {

// As -mattr is written for the architecture.
std::string_view example_features(const llvm::Triple& triple) {
  return triple.isX86() ? "+avx2,-avx512f" : triple.isAArch64() ? "+dotprod,-sve" : "+m,+f,+d";
}

std::string cpu_name_hint(const llvm::Triple& triple, const std::string& host_cpu) {
  const std::string architecture = triple.getArchName().str();
  const std::vector<std::string_view> names = known_cpus(architecture);
  if (names.empty()) {
    return fmt::format("leave -mcpu out, or use LLVM's name of a {}", architecture);
  }
  return fmt::format("use an LLVM CPU name such as {}{}", fmt::join(names, ", "),
                     host_cpu.empty() ? "" : fmt::format("; this machine is '{}'", host_cpu));
}

bool is_known(const llvm::MCSubtargetInfo& plain, llvm::StringRef feature) {
  const auto all = plain.getAllProcessorFeatures();
  const auto* found = llvm::lower_bound(all, feature);
  return found != all.end() && feature == found->Key;
}

}  // namespace

Status check_triple(const llvm::Triple& triple, std::string_view written) {
  const bool narrow_pointers = triple.isX32() || triple.getEnvironment() == llvm::Triple::GNUILP32;
  if (triple.isArch64Bit() && triple.isLittleEndian() && triple.isOSLinux() &&
      triple.isOSBinFormatELF() && !narrow_pointers) {
    return {};
  }
  return unsupported(
      fmt::format("target triple '{}' is not of a little-endian 64-bit Linux", written),
      "use a triple such as x86_64-linux-gnu or aarch64-linux-gnu");
}

Status check_cpu_name(const llvm::MCSubtargetInfo& plain, const std::string& cpu,
                      const std::string& host_cpu) {
  if (plain.isCPUStringValid(cpu)) return {};
  const llvm::Triple& triple = plain.getTargetTriple();
  return invalid(fmt::format("unknown CPU '{}' for {}", cpu, triple.str()),
                 cpu_name_hint(triple, host_cpu));
}

Status check_features(const llvm::MCSubtargetInfo& plain, const std::string& features) {
  if (features.empty()) return {};
  const std::string hint = fmt::format("write +NAME or -NAME, as in -mattr={}",
                                       example_features(plain.getTargetTriple()));
  llvm::SmallVector<llvm::StringRef, 16> words;
  llvm::StringRef(features).split(words, ',');
  for (const llvm::StringRef word : words) {
    if (!word.starts_with("+") && !word.starts_with("-")) {
      return invalid(fmt::format("CPU feature '{}' has no sign", word.str()), hint);
    }
    const llvm::StringRef name = word.drop_front();
    if (!is_known(plain, name)) {
      return invalid(
          fmt::format("unknown CPU feature '{}' for {}", name.str(), plain.getTargetTriple().str()),
          hint);
    }
  }
  return {};
}

Status check_runs_kernels(const llvm::MCSubtargetInfo& processor) {
  const llvm::Triple& triple = processor.getTargetTriple();
  const char* const needed = triple.isX86()
                                 ? "+64bit,+64bit-mode,-32bit-mode,-16bit-mode,-soft-float"
                             : triple.isAArch64() ? "+fp-armv8"
                                                  : "+64bit,+m,+f,+d";
  if (processor.checkFeatures(needed)) return {};
  return invalid(
      fmt::format("CPU '{}' runs no code of 64 bits with floating point", processor.getCPU().str()),
      triple.isRISCV() ? "add -mattr=+m,+f,+d, or choose a CPU that has them, such as sifive-u74"
                       : cpu_name_hint(triple, ""));
}

}  // namespace attune::cpu
