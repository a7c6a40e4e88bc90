// A shared object of test_kernels whose tables a test changes in place: what the bytes of an
// attacker may say.
#pragma once

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/built_path_testing.h"

namespace attune::cpu {

inline std::vector<std::byte> test_object(const std::string& name) {
  std::ifstream file(built_path(ATTUNE_TEST_KERNELS) + "/" + name + ".so", std::ios::binary);
  EXPECT_TRUE(file.good()) << name;
  const std::vector<char> chars{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::byte> bytes(chars.size());
  std::memcpy(bytes.data(), chars.data(), chars.size());
  return bytes;
}

// Of an object as the linker made it: addresses are looked up in tables that are still right.
class EditedObject {
 public:
  explicit EditedObject(const std::string& name) : bytes_(test_object(name)) {}

  std::vector<std::byte>& bytes() { return bytes_; }

  Elf64_Ehdr& header() { return *at<Elf64_Ehdr>(0); }
  std::span<Elf64_Phdr> program_headers() {
    return {at<Elf64_Phdr>(header().e_phoff), header().e_phnum};
  }
  Elf64_Phdr& program_header(std::uint32_t type) {
    for (Elf64_Phdr& entry : program_headers()) {
      if (entry.p_type == type) return entry;
    }
    ADD_FAILURE() << "no program header " << type;
    return program_headers().front();
  }
  // The one with these rights.
  Elf64_Phdr& segment(std::uint32_t flags) {
    for (Elf64_Phdr& entry : program_headers()) {
      if (entry.p_type == PT_LOAD && entry.p_flags == flags) return entry;
    }
    ADD_FAILURE() << "no segment with the rights " << flags;
    return program_headers().front();
  }

  std::span<Elf64_Dyn> dynamic() {
    const Elf64_Phdr& entry = program_header(PT_DYNAMIC);
    return {at<Elf64_Dyn>(entry.p_offset), entry.p_filesz / sizeof(Elf64_Dyn)};
  }
  Elf64_Dyn& dynamic(std::int64_t tag) {
    for (Elf64_Dyn& entry : dynamic()) {
      if (entry.d_tag == tag) return entry;
    }
    ADD_FAILURE() << "no dynamic entry " << tag;
    return dynamic().front();
  }
  // In the room that linkers leave behind the last one.
  void add_dynamic(std::int64_t tag, std::uint64_t value) {
    Elf64_Dyn& entry = dynamic(DT_NULL);
    ASSERT_LT(&entry + 1, dynamic().data() + dynamic().size());
    entry.d_tag = tag;
    entry.d_un.d_val = value;
  }

  std::span<Elf64_Rela> relocations() {
    return {at_address<Elf64_Rela>(dynamic(DT_RELA).d_un.d_ptr),
            dynamic(DT_RELASZ).d_un.d_val / sizeof(Elf64_Rela)};
  }
  std::span<Elf64_Sym> symbols() {
    const std::uint64_t names = dynamic(DT_STRTAB).d_un.d_ptr;
    const std::uint64_t symbols = dynamic(DT_SYMTAB).d_un.d_ptr;
    return {at_address<Elf64_Sym>(symbols), (names - symbols) / sizeof(Elf64_Sym)};
  }
  Elf64_Sym& symbol(std::string_view name) {
    const char* names = at_address<char>(dynamic(DT_STRTAB).d_un.d_ptr);
    for (Elf64_Sym& entry : symbols()) {
      if (names + entry.st_name == name) return entry;
    }
    ADD_FAILURE() << "no symbol " << name;
    return symbols().front();
  }

  // Where it is in the file.
  template <typename T>
  T* at_address(std::uint64_t address) {
    for (const Elf64_Phdr& entry : program_headers()) {
      if (entry.p_type == PT_LOAD && address >= entry.p_vaddr &&
          address - entry.p_vaddr < entry.p_filesz) {
        return at<T>(entry.p_offset + (address - entry.p_vaddr));
      }
    }
    ADD_FAILURE() << "no segment holds " << address;
    return at<T>(0);
  }

 private:
  template <typename T>
  T* at(std::uint64_t offset) {
    return reinterpret_cast<T*>(bytes_.data() + offset);
  }

  std::vector<std::byte> bytes_;
};

}  // namespace attune::cpu
