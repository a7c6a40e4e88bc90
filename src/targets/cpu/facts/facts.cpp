#include "targets/cpu/facts/facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "targets/cpu/device/cpu_features.h"
#include "targets/cpu/facts/machine_here.h"

namespace attune::cpu {
namespace {

constexpr std::array<std::string_view, 3> kAttributes = {kTriple, kCpu, kFeatures};
constexpr const char* kElsewhere = "leave --target out, or use compile, which works for any target";

std::string architecture_of(const target::Target& resolved) {
  const std::string_view triple = resolved.attribute(kTriple);
  return std::string(triple.substr(0, triple.find('-')));
}

Status check_runs_here(const target::Target& resolved) {
  if (architecture_of(resolved) != host_architecture()) {
    ATTUNE_ASSIGN(const target::Target here, resolve({}));
    return unsupported(fmt::format("target '{}' is not this machine, whose triple is {}",
                                   resolved.attribute(kTriple), here.attribute(kTriple)),
                       kElsewhere);
  }
  std::vector<std::string> missing = required_features(resolved);
  std::erase_if(missing, [](const std::string& name) { return has_feature(name); });
  if (missing.empty()) return {};
  return unsupported(fmt::format("CPU '{}' has features that this machine lacks: {}",
                                 resolved.attribute(kCpu), fmt::join(missing, ", ")),
                     kElsewhere);
}

target::Requirements requirements(const target::Target& resolved) {
  return {.architecture = architecture_of(resolved), .features = required_features(resolved)};
}

std::string_view processor(const target::Target& resolved) { return resolved.attribute(kCpu); }

// C has no vectors under masks.
target::Target c_target(const target::Target& resolved) {
  target::Target target = resolved;
  target.masked_bytes = 0;
  return target;
}

std::string autotvm_text(const target::Target& target) {
  std::string text = "llvm -keys=cpu";
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) text += fmt::format(" -{}={}", name, value);
  };
  add("mtriple", target.attribute(kTriple));
  add("mcpu", target.attribute(kCpu));
  add("mattr", target.attribute(kFeatures));
  if (target.threads > 0) text += fmt::format(" -num-cores={}", target.threads);
  return text;
}

}  // namespace

const target::Kind target_kind = {
    .name = "cpu",
    .meaning = "cores of this machine, or of another that code is compiled for",
    .example = "cpu -mcpu=znver3 -threads=2",
    .device = "cpu",
    .attributes = kAttributes,
    .resolve = resolve,
    .check_runs_here = check_runs_here,
    .requirements = requirements,
    .processor = processor,
    .autotvm_text = autotvm_text,
    .measure = [](const target::Target& target) { return measure_machine(target); },
    .c_target = c_target,
};

}  // namespace attune::cpu
