// What the CPU of this machine can do, in the names that LLVM uses, so that code made for another
// machine is refused before it runs.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace attune::cpu {

// "x86_64", "aarch64", "riscv64".
std::string_view host_architecture();
// The features of an architecture, this machine's or another, that code may need and that are
// checked before it runs there; empty for those that are not known.
std::span<const std::string_view> known_features(std::string_view architecture);
// Others that are checked, of code for which they were asked by name.
std::span<const std::string_view> added_features(std::string_view architecture);
// Of both.
bool has_feature(std::string_view feature);

// Unsupported where code for that architecture with those features cannot run here; the message
// names what is missing.
Status check_cpu(std::string_view architecture, std::span<const std::string> features);

}  // namespace attune::cpu
