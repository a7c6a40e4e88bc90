#include "app/verbs/look_refusal.h"

#include <fmt/format.h>

#include <algorithm>

namespace attune::verbs {

bool may_time(const target::Target& target, int cores) {
  return std::min(target.machine.cores, cores) >= std::max(1, target.threads);
}

std::string why_not_timed(const target::Target& target, const target::Target& here, int cores) {
  if (target.kind != here.kind || target.attributes != here.attributes) return "";
  if (target.machine.cores == 0) {
    return "the speed of this machine was not measured, so that no schedule was timed; "
           "`attune doctor` measures it";
  }
  const int most = std::min(target.machine.cores, cores);
  return fmt::format(
      "{} threads are more than the {} {} of this process, so that no schedule was timed; choose "
      "--threads {} or fewer",
      target.threads, most, most == 1 ? "core" : "cores", most);
}

}  // namespace attune::verbs
