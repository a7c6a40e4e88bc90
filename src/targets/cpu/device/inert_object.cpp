#include "targets/cpu/device/inert_object.h"

#include <elf.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "targets/cpu/device/kernel_module.h"

namespace attune::cpu {
namespace {

Error refused(const std::string& why) {
  return {ErrorCode::Corrupt, "kernel object is refused: " + why, "compile the model again"};
}

struct ForbiddenTag {
  std::int64_t tag;
  const char* why;
};
constexpr std::array<ForbiddenTag, 13> kForbidden = {{
    {DT_INIT, "it has an initialiser"},
    {DT_INIT_ARRAY, "it has initialisers"},
    {DT_PREINIT_ARRAY, "it has initialisers"},
    {DT_FINI, "it has a finaliser"},
    {DT_FINI_ARRAY, "it has finalisers"},
    {DT_NEEDED, "it needs another library"},
    {DT_AUXILIARY, "it needs another library"},
    {DT_FILTER, "it needs another library"},
    {DT_AUDIT, "it needs another library"},
    {DT_DEPAUDIT, "it needs another library"},
    {DT_TEXTREL, "its code is changed while loading"},
    {DT_REL, "it has relocations of another architecture"},
    {DT_RELR, "it has compressed relocations"},
}};

#if defined(__x86_64__)
constexpr std::uint32_t kResolverRelocation = R_X86_64_IRELATIVE;
#elif defined(__aarch64__)
constexpr std::uint32_t kResolverRelocation = R_AARCH64_IRELATIVE;
#elif defined(__riscv)
constexpr std::uint32_t kResolverRelocation = R_RISCV_IRELATIVE;
#endif

// The object as the loader sees it: by virtual address, through the segments it maps.
class Image {
 public:
  explicit Image(std::span<const std::byte> bytes) : bytes_(bytes) {}

  // Segments in ascending order without overlap, so that an address has one meaning.
  Status read_segments() {
    const Elf64_Ehdr header = at<Elf64_Ehdr>(0).value();
    std::uint64_t mapped_to = 0;
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
      const auto segment = at<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr));
      if (!segment) return refused("its program headers are cut off");
      if (segment->p_type == PT_DYNAMIC) dynamic_ = *segment;
      if (segment->p_type == PT_INTERP) return refused("it asks for a loader of its own");
      if (segment->p_type != PT_LOAD) continue;
      std::uint64_t end = 0;
      if (segment->p_vaddr < mapped_to || segment->p_memsz < segment->p_filesz ||
          __builtin_add_overflow(segment->p_vaddr, segment->p_memsz, &end)) {
        return refused("its segments overlap");
      }
      mapped_to = end;
      loads_.push_back(*segment);
    }
    return {};
  }

  const std::optional<Elf64_Phdr>& dynamic() const { return dynamic_; }

  template <typename T>
  std::optional<T> at_address(std::uint64_t address) const {
    for (const Elf64_Phdr& load : loads_) {
      if (address < load.p_vaddr || address - load.p_vaddr >= load.p_filesz) continue;
      const std::uint64_t inside = address - load.p_vaddr;
      if (load.p_filesz - inside < sizeof(T)) return std::nullopt;
      return at<T>(load.p_offset + inside);
    }
    return std::nullopt;
  }

 private:
  template <typename T>
  std::optional<T> at(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  std::span<const std::byte> bytes_;
  std::vector<Elf64_Phdr> loads_;
  std::optional<Elf64_Phdr> dynamic_;
};

struct DynamicTable {
  std::uint64_t symbols = 0;
  std::uint64_t relocations = 0;
  std::uint64_t relocation_bytes = 0;
  std::uint64_t jumps = 0;
  std::uint64_t jump_bytes = 0;
};

Result<DynamicTable> read_dynamic(const Image& image) {
  DynamicTable table;
  if (!image.dynamic()) return refused("it has no dynamic section");
  for (std::uint64_t address = image.dynamic()->p_vaddr;; address += sizeof(Elf64_Dyn)) {
    const auto entry = image.at_address<Elf64_Dyn>(address);
    if (!entry) return refused("its dynamic section is cut off");
    for (const auto& [tag, why] : kForbidden) {
      if (entry->d_tag == tag) return refused(why);
    }
    switch (entry->d_tag) {
      case DT_NULL:
        return table;
      case DT_SYMTAB:
        table.symbols = entry->d_un.d_ptr;
        break;
      case DT_RELA:
        table.relocations = entry->d_un.d_ptr;
        break;
      case DT_RELASZ:
        table.relocation_bytes = entry->d_un.d_val;
        break;
      case DT_JMPREL:
        table.jumps = entry->d_un.d_ptr;
        break;
      case DT_PLTRELSZ:
        table.jump_bytes = entry->d_un.d_val;
        break;
      default:
        break;
    }
  }
}

Status check_relocations(const Image& image, const DynamicTable& table, std::uint64_t start,
                         std::uint64_t bytes) {
  for (std::uint64_t offset = 0; offset < bytes; offset += sizeof(Elf64_Rela)) {
    const auto relocation = image.at_address<Elf64_Rela>(start + offset);
    if (!relocation) return refused("its relocations are cut off");
    const std::uint64_t symbol = ELF64_R_SYM(relocation->r_info);
    if (ELF64_R_TYPE(relocation->r_info) == kResolverRelocation) {
      return refused("it has functions that run while loading");
    }
    if (symbol == 0) continue;
    const auto entry = image.at_address<Elf64_Sym>(table.symbols + symbol * sizeof(Elf64_Sym));
    if (!entry) return refused("its symbols are cut off");
    if (ELF64_ST_TYPE(entry->st_info) == STT_GNU_IFUNC) {
      return refused("it has functions that run while loading");
    }
  }
  return {};
}

}  // namespace

Status check_inert_object(std::span<const std::byte> bytes) {
  ATTUNE_RETURN_IF_ERROR(check_shared_object(bytes));
  Image image(bytes);
  ATTUNE_RETURN_IF_ERROR(image.read_segments());
  ATTUNE_ASSIGN(const DynamicTable table, read_dynamic(image));
  ATTUNE_RETURN_IF_ERROR(
      check_relocations(image, table, table.relocations, table.relocation_bytes));
  return check_relocations(image, table, table.jumps, table.jump_bytes);
}

}  // namespace attune::cpu
