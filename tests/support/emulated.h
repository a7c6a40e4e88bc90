// Programs for another architecture, run on this machine by an emulator: the runtime that the
// preset aarch64 builds, under qemu. Where one of the two is missing, tests are skipped with a
// reason.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace attune::test {

// Why programs for aarch64 cannot run here, or nothing.
std::optional<std::string> why_not_emulated();

// tests/arm/run_outputs.c, built for this machine.
std::string own_run_outputs();

// A program of build/aarch64/bin on a processor as qemu calls it ("max", "cortex-a53").
ProcessResult run_emulated(const std::string& program, const std::vector<std::string>& arguments,
                           const std::string& cpu = "max");

}  // namespace attune::test
