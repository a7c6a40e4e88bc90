// The steps of reading a kernel object (kernel_object.h), in the order in which they are done. Each
// fails with one sentence at the first thing that is wrong.
#pragma once

#include <elf.h>

#include <cstring>
#include <optional>
#include <string_view>

#include "targets/cpu/device/kernel_object.h"

namespace attune::cpu {

Error refused(const std::string& why);

// Where the tables of the dynamic section lie, by address; nothing of them is checked yet.
struct DynamicTables {
  std::uint64_t symbols = 0;
  std::uint64_t names = 0, name_bytes = 0;
  std::uint64_t hashes = 0;
  std::uint64_t relocations = 0, relocation_bytes = 0;
  std::uint64_t jumps = 0, jump_bytes = 0;
};

class ElfReader {
 public:
  explicit ElfReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  // Architecture and kind of file; where the program headers lie.
  Status read_header();
  // Segments, and where the dynamic section is.
  Status read_segments();
  Status read_dynamic();
  Status read_symbols();
  Status read_relocations();

  KernelObject take() { return std::move(object_); }

 private:
  Status add_segment(const Elf64_Phdr& header);
  Status add_program_header(const Elf64_Phdr& header);
  Status check_sealed() const;
  Status check_dynamic_entry(const Elf64_Dyn& entry);
  Result<std::uint64_t> count_symbols() const;
  Result<std::string_view> name_of(const Elf64_Sym& symbol) const;
  Status check_symbol(const Elf64_Sym& symbol, std::string_view name) const;
  Status relocate(std::uint64_t start, std::uint64_t bytes);
  Result<Relocation> read_relocation(const Elf64_Rela& entry) const;

  // The segment whose memory holds all of [address, address + bytes); null if there is none.
  const Segment* segment_of(std::uint64_t address, std::uint64_t bytes) const;

  template <typename T>
  std::optional<T> at_offset(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  // From the contents of a segment.
  template <typename T>
  std::optional<T> at_address(std::uint64_t address) const {
    const Segment* segment = segment_of(address, sizeof(T));
    if (segment == nullptr || segment->contents.size() < sizeof(T) ||
        address - segment->address > segment->contents.size() - sizeof(T)) {
      return std::nullopt;
    }
    T value;
    std::memcpy(&value, segment->contents.data() + (address - segment->address), sizeof value);
    return value;
  }

  std::span<const std::byte> bytes_;
  Elf64_Ehdr header_ = {};
  std::optional<Elf64_Phdr> dynamic_ = {};
  DynamicTables tables_ = {};
  std::vector<Elf64_Sym> symbols_ = {};
  KernelObject object_ = {};
};

}  // namespace attune::cpu
