// Kernel objects whose ELF parts are changed at random, by the thousand: each is refused, or loaded
// without running any of its code, every instruction of which ends the process. What is accepted is
// held against the rules once more, by other means. ATTUNE_FUZZ_MUTATIONS says how many (100,000
// unless given).
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/rng.h"
#include "targets/cpu/device/edited_object_testing.h"
#include "targets/cpu/device/kernel_module.h"

namespace attune::cpu {
namespace {

int mutations() {
  const char* given = std::getenv("ATTUNE_FUZZ_MUTATIONS");
  return given != nullptr ? std::atoi(given) : 100'000;
}

// A table of the object, as bytes, and how wide the numbers in it are.
struct Part {
  std::span<std::byte> bytes;
  std::vector<std::size_t> widths;
};

template <typename T>
std::span<std::byte> bytes_of(std::span<T> values) {
  return std::as_writable_bytes(values);
}

std::vector<Part> parts_of(EditedObject& object) {
  const auto header = bytes_of(std::span(&object.header(), 1));
  auto* const hashes = object.at_address<std::byte>(object.dynamic(DT_GNU_HASH).d_un.d_ptr);
  auto* const names = object.at_address<std::byte>(object.dynamic(DT_STRTAB).d_un.d_ptr);
  return {{header, {1, 2, 4, 8}},
          {bytes_of(object.program_headers()), {4, 8}},
          {bytes_of(object.program_headers()), {4, 8}},
          {bytes_of(object.dynamic()), {8}},
          {bytes_of(object.dynamic()), {8}},
          {bytes_of(object.symbols()), {1, 2, 4, 8}},
          {bytes_of(object.relocations()), {4, 8}},
          {{hashes, 48}, {4}},
          {{names, object.dynamic(DT_STRSZ).d_un.d_val}, {1}}};
}

// A number that is likely to matter at a place that holds `old`.
std::uint64_t interesting(std::uint64_t old, Rng& rng) {
  constexpr std::uint64_t kTags[] = {DT_INIT,     DT_FINI,   DT_INIT_ARRAY, DT_NEEDED, DT_TEXTREL,
                                     DT_RELA,     DT_JMPREL, DT_FLAGS,      DT_STRTAB, DT_SYMTAB,
                                     DT_GNU_HASH, DT_NULL,   PT_TLS,        PT_INTERP, PT_LOAD};
  switch (rng.below(8)) {
    case 0:
      return old ^ (std::uint64_t{1} << rng.below(64));
    case 1:
      return old + rng.below(32) - 16;
    case 2:
      return rng.below(64);
    case 3:
      return std::uint64_t{0} - rng.below(64);
    case 4:
      return rng.below(0x6000);
    case 5:
      return kTags[rng.below(std::size(kTags))];
    case 6:
      return 0x1000 * rng.below(8);
    default:
      return rng.next() >> rng.below(64);
  }
}

void mutate(EditedObject& object, const std::vector<Part>& parts, Rng& rng) {
  const Part& part = parts[rng.below(parts.size())];
  const std::size_t width = part.widths[rng.below(part.widths.size())];
  const std::size_t at = width * rng.below(part.bytes.size() / width);
  std::uint64_t value = 0;
  std::memcpy(&value, part.bytes.data() + at, width);
  value = interesting(value, rng);
  std::memcpy(part.bytes.data() + at, &value, width);
  if (rng.chance(0.05)) {  // and some other byte, wherever
    object.bytes()[rng.below(object.bytes().size())] = static_cast<std::byte>(rng.below(256));
  }
}

// What was accepted, against the rules.
void expect_sound(const KernelObject& object, std::size_t bytes) {
  const auto within = [&](std::uint64_t address, std::uint64_t count, Access access) {
    for (const Segment& segment : object.segments) {
      if (segment.access == access && address >= segment.address &&
          address + count <= segment.address + segment.bytes && address + count >= address) {
        return true;
      }
    }
    return false;
  };
  EXPECT_LE(object.end(), bytes + (16u << 20));
  for (const Relocation& relocation : object.relocations) {
    EXPECT_TRUE(within(relocation.at, 8, Access::ReadWrite));
    EXPECT_LE(relocation.target, object.end());
  }
  for (const KernelSymbol& kernel : object.kernels) {
    EXPECT_TRUE(within(kernel.address, 1, Access::ReadExecute)) << kernel.name;
  }
  for (std::size_t i = 1; i < object.segments.size(); ++i) {
    EXPECT_LT((object.segments[i - 1].end() - 1) / page_bytes(),
              object.segments[i].address / page_bytes());
  }
}

bool has_writable_code() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(" rwx") != std::string::npos) return true;
  }
  return false;
}

TEST(ObjectMutations, AreRefusedOrLoadedWithoutRunning) {
  Rng rng(19);
  const EditedObject good("traps");
  int accepted = 0;
  for (int i = 0; i < mutations(); ++i) {
    EditedObject object = good;
    const std::vector<Part> parts = parts_of(object);
    for (std::uint64_t k = 1 + rng.below(3); k > 0; --k) mutate(object, parts, rng);
    const auto read = read_kernel_object(object.bytes());
    const auto module = KernelModule::load(object.bytes());
    ASSERT_EQ(read.ok(), module.ok()) << "mutation " << i;
    if (!read.ok()) {
      ASSERT_FALSE(read.error().message.empty());
      continue;
    }
    ++accepted;
    expect_sound(*read, object.bytes().size());
    for (const KernelSymbol& kernel : read->kernels) ASSERT_TRUE(module->kernel(kernel.name).ok());
    if (accepted % 1000 == 1) {
      ASSERT_FALSE(has_writable_code()) << "mutation " << i;
    }
  }
  // Both ways are tried.
  EXPECT_GT(accepted, mutations() / 20);
  EXPECT_LT(accepted, mutations() * 19 / 20);
}

}  // namespace
}  // namespace attune::cpu
