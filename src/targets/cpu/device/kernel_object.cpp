#include "targets/cpu/device/kernel_object.h"

#include <unistd.h>

#include <algorithm>
#include <bit>

#include "targets/cpu/device/elf_machine.h"
#include "targets/cpu/device/elf_reader.h"

namespace attune::cpu {
namespace {

constexpr std::size_t kMostProgramHeaders = 32;
constexpr std::uint64_t kMostAlignment = std::uint64_t{1} << 20;
// How much more memory than bytes an object may take: padding between segments, zeroed data.
constexpr std::uint64_t kMostSlack = std::uint64_t{16} << 20;

Error corrupt(std::string message) {
  return {ErrorCode::Corrupt, std::move(message), "build the kernel again"};
}

std::uint64_t page_of(std::uint64_t address) { return address / page_bytes(); }

}  // namespace

Error refused(const std::string& why) {
  return {ErrorCode::Corrupt, "kernel object is refused: " + why, "compile the model again"};
}

std::uint64_t page_bytes() {
  static const auto bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

Status ElfReader::read_header() {
  const auto header = at_offset<Elf64_Ehdr>(0);
  if (!header) {
    return corrupt("kernel object has " + std::to_string(bytes_.size()) +
                   " bytes, less than an ELF header");
  }
  header_ = *header;
  if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0) {
    return corrupt("kernel object is not an ELF file");
  }
  if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB ||
      header_.e_machine != kMachine) {
    return corrupt("kernel object is for another architecture (ELF machine " +
                   std::to_string(header_.e_machine) + ", this one is " + std::to_string(kMachine) +
                   ")");
  }
  if (header_.e_type != ET_DYN || header_.e_phentsize != sizeof(Elf64_Phdr)) {
    return corrupt("kernel object is an ELF file but not a shared object");
  }
  if (header_.e_phnum > kMostProgramHeaders) {
    return refused("it has " + std::to_string(header_.e_phnum) + " program headers");
  }
  const std::uint64_t size = bytes_.size();
  if (header_.e_phoff > size || header_.e_phnum * sizeof(Elf64_Phdr) > size - header_.e_phoff) {
    return corrupt("kernel object is cut off: its program headers lie beyond its " +
                   std::to_string(size) + " bytes");
  }
  return {};
}

Status ElfReader::add_segment(const Elf64_Phdr& header) {
  const std::uint64_t size = bytes_.size();
  if (header.p_offset > size || header.p_filesz > size - header.p_offset) {
    return corrupt("kernel object is cut off: a segment of " + std::to_string(header.p_filesz) +
                   " bytes from byte " + std::to_string(header.p_offset) + " ends behind its " +
                   std::to_string(size));
  }
  const std::uint64_t least = object_.segments.empty() ? 0 : object_.segments.back().end();
  std::uint64_t end = 0;
  if (header.p_vaddr < least || header.p_memsz < header.p_filesz ||
      __builtin_add_overflow(header.p_vaddr, header.p_memsz, &end)) {
    return refused("its segments overlap");
  }
  if (end > size + kMostSlack) {
    return refused("its " + std::to_string(size) + " bytes ask for " + std::to_string(end) +
                   " bytes of memory");
  }
  if (header.p_memsz == 0) return {};
  if (least > 0 && page_of(least - 1) == page_of(header.p_vaddr)) {
    return refused("two of its segments share a page of memory");
  }
  const std::uint64_t alignment = std::max<std::uint64_t>(header.p_align, 1);
  if (!std::has_single_bit(alignment) || alignment > kMostAlignment) {
    return refused("a segment is aligned to " + std::to_string(alignment) + " bytes");
  }
  object_.alignment = std::max(object_.alignment, alignment);
  Segment segment{header.p_vaddr, header.p_memsz, bytes_.subspan(header.p_offset, header.p_filesz)};
  switch (header.p_flags) {
    case PF_R:
      segment.access = Access::Read;
      break;
    case PF_R | PF_W:
      segment.access = Access::ReadWrite;
      break;
    case PF_R | PF_X:
      segment.access = Access::ReadExecute;
      break;
    case PF_R | PF_W | PF_X:
    case PF_W | PF_X:
      return refused("it has memory that can be written and executed");
    default:
      return refused("a segment has the rights " + std::to_string(header.p_flags));
  }
  object_.segments.push_back(segment);
  return {};
}

Status ElfReader::add_program_header(const Elf64_Phdr& header) {
  switch (header.p_type) {
    case PT_LOAD:
      return add_segment(header);
    case PT_DYNAMIC:
      if (dynamic_) return refused("it has two dynamic sections");
      dynamic_ = header;
      return {};
    case PT_GNU_RELRO:
      if (object_.sealed_bytes > 0) return refused("it has two sealed ranges");
      object_.sealed_address = header.p_vaddr;
      object_.sealed_bytes = header.p_memsz;
      return {};
    case PT_GNU_STACK:
      if ((header.p_flags & PF_X) != 0) return refused("it wants a stack that can be executed");
      return {};
    case PT_INTERP:
      return refused("it asks for a loader of its own");
    case PT_TLS:
      return refused("it has variables of threads");
    case PT_NULL:
    case PT_PHDR:
    case PT_NOTE:
    case PT_GNU_EH_FRAME:
    case PT_GNU_PROPERTY:
      return {};
    default:
      return refused("it has a program header of the unknown type " +
                     std::to_string(header.p_type));
  }
}

Status ElfReader::check_sealed() const {
  if (object_.sealed_bytes == 0) return {};
  const Segment* segment = segment_of(object_.sealed_address, object_.sealed_bytes);
  if (segment == nullptr || segment->access != Access::ReadWrite) {
    return refused("what it wants sealed lies outside of its data");
  }
  return {};
}

Status ElfReader::read_segments() {
  for (std::size_t i = 0; i < header_.e_phnum; ++i) {
    const auto header = at_offset<Elf64_Phdr>(header_.e_phoff + i * sizeof(Elf64_Phdr));
    if (!header) return refused("its program headers are cut off");
    ATTUNE_RETURN_IF_ERROR(add_program_header(*header));
  }
  if (object_.segments.empty()) return refused("it has no segments");
  return check_sealed();
}

const Segment* ElfReader::segment_of(std::uint64_t address, std::uint64_t bytes) const {
  for (const Segment& segment : object_.segments) {
    if (address < segment.address || address - segment.address > segment.bytes) continue;
    if (bytes <= segment.bytes - (address - segment.address)) return &segment;
  }
  return nullptr;
}

Result<KernelObject> read_kernel_object(std::span<const std::byte> bytes) {
  ElfReader reader(bytes);
  ATTUNE_RETURN_IF_ERROR(reader.read_header());
  ATTUNE_RETURN_IF_ERROR(reader.read_segments());
  ATTUNE_RETURN_IF_ERROR(reader.read_dynamic());
  ATTUNE_RETURN_IF_ERROR(reader.read_symbols());
  ATTUNE_RETURN_IF_ERROR(reader.read_relocations());
  return reader.take();
}

}  // namespace attune::cpu
