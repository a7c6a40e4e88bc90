// What this machine's ELF files have of their own: the number of the architecture and the
// relocations that lld makes for position-independent code.
#pragma once

#include <elf.h>

#include <cstdint>

namespace attune::cpu {

#if defined(__x86_64__)
inline constexpr Elf64_Half kMachine = EM_X86_64;
inline constexpr std::uint32_t kRelative = R_X86_64_RELATIVE;
inline constexpr std::uint32_t kAbsolute = R_X86_64_64;
inline constexpr std::uint32_t kGlobalData = R_X86_64_GLOB_DAT;
inline constexpr std::uint32_t kJumpSlot = R_X86_64_JUMP_SLOT;
inline constexpr std::uint32_t kResolver = R_X86_64_IRELATIVE;
#elif defined(__aarch64__)
inline constexpr Elf64_Half kMachine = EM_AARCH64;
inline constexpr std::uint32_t kRelative = R_AARCH64_RELATIVE;
inline constexpr std::uint32_t kAbsolute = R_AARCH64_ABS64;
inline constexpr std::uint32_t kGlobalData = R_AARCH64_GLOB_DAT;
inline constexpr std::uint32_t kJumpSlot = R_AARCH64_JUMP_SLOT;
inline constexpr std::uint32_t kResolver = R_AARCH64_IRELATIVE;
#elif defined(__riscv)
inline constexpr Elf64_Half kMachine = EM_RISCV;
inline constexpr std::uint32_t kRelative = R_RISCV_RELATIVE;
inline constexpr std::uint32_t kAbsolute = R_RISCV_64;
inline constexpr std::uint32_t kGlobalData = R_RISCV_64;
inline constexpr std::uint32_t kJumpSlot = R_RISCV_JUMP_SLOT;
inline constexpr std::uint32_t kResolver = R_RISCV_IRELATIVE;
#endif

}  // namespace attune::cpu
