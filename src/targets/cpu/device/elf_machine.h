// What this machine's ELF files have of their own: the number of the architecture and the
// relocations that lld makes for position-independent code.
#pragma once

#include <elf.h>

#include <cstdint>

namespace attune::cpu {

struct ElfMachine {
  Elf64_Half machine;
  std::uint32_t relative, absolute, global_data, jump_slot, resolver;
};

#if defined(__x86_64__)
inline constexpr ElfMachine kHere{EM_X86_64,         R_X86_64_RELATIVE,  R_X86_64_64,
                                  R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT, R_X86_64_IRELATIVE};
#elif defined(__aarch64__)
inline constexpr ElfMachine kHere{EM_AARCH64,         R_AARCH64_RELATIVE,  R_AARCH64_ABS64,
                                  R_AARCH64_GLOB_DAT, R_AARCH64_JUMP_SLOT, R_AARCH64_IRELATIVE};
#elif defined(__riscv)
inline constexpr ElfMachine kHere{EM_RISCV,   R_RISCV_RELATIVE,  R_RISCV_64,
                                  R_RISCV_64, R_RISCV_JUMP_SLOT, R_RISCV_IRELATIVE};
#endif

inline constexpr Elf64_Half kMachine = kHere.machine;
inline constexpr std::uint32_t kRelative = kHere.relative;
inline constexpr std::uint32_t kAbsolute = kHere.absolute;
inline constexpr std::uint32_t kGlobalData = kHere.global_data;
inline constexpr std::uint32_t kJumpSlot = kHere.jump_slot;
inline constexpr std::uint32_t kResolver = kHere.resolver;

}  // namespace attune::cpu
