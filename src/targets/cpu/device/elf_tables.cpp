// The tables that the dynamic section of a kernel object names: its entries, symbols and
// relocations.
#include <algorithm>
#include <array>

#include "targets/cpu/device/elf_machine.h"
#include "targets/cpu/device/elf_reader.h"

namespace attune::cpu {
namespace {

struct KnownTag {
  std::int64_t tag;
  const char* why;
};
// Those that have a reason of their own; what is not known at all is refused too.
constexpr std::array<KnownTag, 15> kRefused = {{
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
    {DT_RPATH, "it needs another library"},
    {DT_RUNPATH, "it needs another library"},
    {DT_TEXTREL, "its code is changed while loading"},
    {DT_REL, "it has relocations of another architecture"},
    {DT_RELR, "it has compressed relocations"},
}};

// Those that say nothing that loading depends on.
constexpr std::array<std::int64_t, 5> kIgnored = {DT_SONAME, DT_HASH, DT_PLTGOT, DT_BIND_NOW,
                                                  DT_RELACOUNT};

constexpr std::uint64_t kMostDynamicEntries = 128;

// The header of a GNU hash table; behind it the filter's words, the buckets and the chains.
struct HashHeader {
  std::uint32_t buckets;
  std::uint32_t first_symbol;
  std::uint32_t filter_words;
  std::uint32_t filter_shift;
};

std::string hexadecimal(std::uint64_t value) {
  std::string digits;
  for (; digits.empty() || value > 0; value /= 16)
    digits.insert(0, 1, "0123456789abcdef"[value % 16]);
  return "0x" + digits;
}

}  // namespace

Status ElfReader::check_dynamic_entry(const Elf64_Dyn& entry) {
  const std::uint64_t value = entry.d_un.d_val;
  switch (entry.d_tag) {
    case DT_SYMTAB:
      tables_.symbols = value;
      return {};
    case DT_STRTAB:
      tables_.names = value;
      return {};
    case DT_STRSZ:
      tables_.name_bytes = value;
      return {};
    case DT_GNU_HASH:
      tables_.hashes = value;
      return {};
    case DT_RELA:
      tables_.relocations = value;
      return {};
    case DT_RELASZ:
      tables_.relocation_bytes = value;
      return {};
    case DT_JMPREL:
      tables_.jumps = value;
      return {};
    case DT_PLTRELSZ:
      tables_.jump_bytes = value;
      return {};
    case DT_SYMENT:
    case DT_RELAENT:
      return value == 24 ? Status()
                         : refused("its tables have entries of " + std::to_string(value) +
                                   " bytes instead of 24");
    case DT_PLTREL:
      return value == DT_RELA ? Status() : refused("it has relocations of another architecture");
    case DT_FLAGS:
      if ((value & DF_TEXTREL) != 0) return refused("its code is changed while loading");
      return (value & ~std::uint64_t{DF_BIND_NOW}) == 0
                 ? Status()
                 : refused("it has the flags " + hexadecimal(value));
    case DT_FLAGS_1:
      return (value & ~std::uint64_t{DF_1_NOW}) == 0
                 ? Status()
                 : refused("it has the flags " + hexadecimal(value));
    default:
      break;
  }
  if (std::find(kIgnored.begin(), kIgnored.end(), entry.d_tag) != kIgnored.end()) return {};
  for (const auto& [tag, why] : kRefused) {
    if (entry.d_tag == tag) return refused(why);
  }
  return refused("it has a dynamic entry of the unknown kind " +
                 hexadecimal(static_cast<std::uint64_t>(entry.d_tag)));
}

Status ElfReader::read_dynamic() {
  if (!dynamic_) return refused("it has no dynamic section");
  for (std::uint64_t i = 0; i < kMostDynamicEntries; ++i) {
    const auto entry = at_address<Elf64_Dyn>(dynamic_->p_vaddr + i * sizeof(Elf64_Dyn));
    if (!entry) return refused("its dynamic section is cut off");
    if (entry->d_tag == DT_NULL) return {};
    ATTUNE_RETURN_IF_ERROR(check_dynamic_entry(*entry));
  }
  return refused("its dynamic section has no end");
}

// By the hash table, the only one that knows: the end of the last chain.
Result<std::uint64_t> ElfReader::count_symbols() const {
  const auto header = at_address<HashHeader>(tables_.hashes);
  if (!header) return refused("its table of symbols is cut off");
  const std::uint64_t buckets =
      tables_.hashes + sizeof *header + std::uint64_t{header->filter_words} * 8;
  std::uint64_t last = 0;
  for (std::uint64_t i = 0; i < header->buckets; ++i) {
    const auto bucket = at_address<std::uint32_t>(buckets + i * 4);
    if (!bucket) return refused("its table of symbols is cut off");
    last = std::max<std::uint64_t>(last, *bucket);
  }
  if (last == 0) return std::uint64_t{header->first_symbol};
  if (last < header->first_symbol) return refused("its table of symbols contradicts itself");
  const std::uint64_t chains = buckets + std::uint64_t{header->buckets} * 4;
  for (;; ++last) {
    const auto chain = at_address<std::uint32_t>(chains + (last - header->first_symbol) * 4);
    if (!chain) return refused("its table of symbols is cut off");
    if ((*chain & 1) != 0) return last + 1;
  }
}

Result<std::string_view> ElfReader::name_of(const Elf64_Sym& symbol) const {
  const Segment* segment = segment_of(tables_.names, tables_.name_bytes);
  if (segment == nullptr || symbol.st_name >= tables_.name_bytes) {
    return refused("the names of its symbols are cut off");
  }
  const std::uint64_t start = tables_.names - segment->address;
  if (start + tables_.name_bytes > segment->contents.size()) {
    return refused("the names of its symbols are cut off");
  }
  const auto* table = reinterpret_cast<const char*>(segment->contents.data() + start);
  const std::string_view rest(table + symbol.st_name, tables_.name_bytes - symbol.st_name);
  const std::size_t length = rest.find('\0');
  if (length == std::string_view::npos) return refused("the names of its symbols are cut off");
  return rest.substr(0, length);
}

Status ElfReader::check_symbol(const Elf64_Sym& symbol, std::string_view name) const {
  const auto type = ELF64_ST_TYPE(symbol.st_info);
  if (type == STT_GNU_IFUNC) return refused("it has functions that run while loading");
  if (type == STT_TLS) return refused("it has variables of threads");
  if (type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE) {
    return refused("symbol '" + std::string(name) + "' is of the unknown type " +
                   std::to_string(type));
  }
  if (symbol.st_shndx == SHN_UNDEF) {
    return refused("it needs '" + std::string(name) + "' from another library");
  }
  if (symbol.st_shndx == SHN_ABS || segment_of(symbol.st_value, 0) == nullptr) {
    return refused("symbol '" + std::string(name) + "' lies outside of its memory");
  }
  return {};
}

Status ElfReader::read_symbols() {
  ATTUNE_ASSIGN(const std::uint64_t count, count_symbols());
  std::uint64_t name_bytes = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto symbol = at_address<Elf64_Sym>(tables_.symbols + i * sizeof(Elf64_Sym));
    if (!symbol) return refused("its symbols are cut off");
    symbols_.push_back(*symbol);
    if (i == 0) continue;  // means no symbol
    ATTUNE_ASSIGN(const std::string_view name, name_of(*symbol));
    // Each is looked through and kept: many may lie in one place, and be longer than the file.
    name_bytes += name.size();
    if (name_bytes > bytes_.size()) return refused("its symbols share their names");
    ATTUNE_RETURN_IF_ERROR(check_symbol(*symbol, name));
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC) continue;
    const Segment* segment = segment_of(symbol->st_value, 1);
    if (segment == nullptr || segment->access != Access::ReadExecute ||
        symbol->st_value - segment->address >= segment->contents.size()) {
      return refused("function '" + std::string(name) + "' lies outside of its code");
    }
    object_.kernels.push_back({std::string(name), symbol->st_value});
  }
  std::sort(object_.kernels.begin(), object_.kernels.end(),
            [](const KernelSymbol& a, const KernelSymbol& b) { return a.name < b.name; });
  return {};
}

Result<Relocation> ElfReader::read_relocation(const Elf64_Rela& entry) const {
  const std::uint64_t type = ELF64_R_TYPE(entry.r_info);
  const std::uint64_t symbol = ELF64_R_SYM(entry.r_info);
  if (type == kResolver) return refused("it has functions that run while loading");
  const bool named = type == kAbsolute || type == kGlobalData || type == kJumpSlot;
  if ((type != kRelative && !named) || (type == kRelative && symbol != 0)) {
    return refused("it has a relocation of the unknown type " + std::to_string(type));
  }
  const Segment* segment = segment_of(entry.r_offset, sizeof(std::uint64_t));
  if (segment == nullptr || segment->access != Access::ReadWrite) {
    return refused("a relocation at " + hexadecimal(entry.r_offset) + " lies outside of its data");
  }
  if (named && (symbol == 0 || symbol >= symbols_.size())) {
    return refused("a relocation names symbol " + std::to_string(symbol) + " of " +
                   std::to_string(symbols_.size()));
  }
  const std::uint64_t base = named ? symbols_[symbol].st_value : 0;
  std::uint64_t target = 0;
  if (__builtin_add_overflow(base, entry.r_addend, &target) || target > object_.end()) {
    return refused("a relocation at " + hexadecimal(entry.r_offset) +
                   " points outside of its memory");
  }
  return Relocation{entry.r_offset, target};
}

Status ElfReader::relocate(std::uint64_t start, std::uint64_t bytes) {
  if (bytes % sizeof(Elf64_Rela) != 0) return refused("its relocations are cut off");
  for (std::uint64_t offset = 0; offset < bytes; offset += sizeof(Elf64_Rela)) {
    const auto entry = at_address<Elf64_Rela>(start + offset);
    if (!entry) return refused("its relocations are cut off");
    ATTUNE_ASSIGN(const Relocation relocation, read_relocation(*entry));
    object_.relocations.push_back(relocation);
  }
  return {};
}

Status ElfReader::read_relocations() {
  ATTUNE_RETURN_IF_ERROR(relocate(tables_.relocations, tables_.relocation_bytes));
  return relocate(tables_.jumps, tables_.jump_bytes);
}

}  // namespace attune::cpu
