// Kernel objects that an attacker may write. Each is refused in one sentence by the check that
// every artifact passes before anything of it is loaded; code that would run, ends the process.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "base/answer_reader.h"
#include "base/isolated.h"
#include "runtime/format/plan.h"
#include "targets/cpu/device/cpu_features.h"
#include "targets/cpu/device/device.h"
#include "targets/cpu/device/edited_object_testing.h"
#include "targets/cpu/device/elf_machine.h"
#include "targets/cpu/device/kernel_object.h"

namespace attune::cpu {
namespace {

// What the check of the device says; then nothing may be loaded either.
std::string refusal(const std::vector<std::byte>& bytes) {
  runtime::Plan plan;
  plan.architecture = host_architecture();
  const std::vector<std::span<const std::byte>> objects = {bytes};
  const Status checked = device_kind.check(plan, objects);
  const auto device = device_kind.open("cpu").value();
  EXPECT_EQ(device->load(bytes).ok(), checked.ok());
  return checked.ok() ? "" : checked.error().message;
}

struct Hostile {
  const char* what;
  std::function<void(EditedObject&)> edit;
  const char* refusal;
};

// Each is an edit of relocated.c.
void expect_refused(std::span<const Hostile> objects) {
  ASSERT_EQ(refusal(EditedObject("relocated").bytes()), "");
  for (const Hostile& hostile : objects) {
    EditedObject object("relocated");
    hostile.edit(object);
    EXPECT_EQ(refusal(object.bytes()), std::string("kernel object is refused: ") + hostile.refusal)
        << hostile.what;
  }
}

void set_type(Elf64_Sym& symbol, unsigned char type) {
  symbol.st_info = static_cast<unsigned char>(ELF64_ST_INFO(STB_GLOBAL, type));
}

TEST(HostileObjects, FromACompiler) {
  EXPECT_EQ(refusal(test_object("starter")), "kernel object is refused: it has initialisers");
  const char* runs = "kernel object is refused: it has functions that run while loading";
  EXPECT_EQ(refusal(test_object("resolver")), runs);
  EXPECT_EQ(refusal(test_object("chooser")), runs);
}

TEST(HostileObjects, ThatRunWhileLoading) {
  const Hostile objects[] = {
      {"an exported resolver", [](auto& o) { set_type(o.symbol("seven"), STT_GNU_IFUNC); },
       "it has functions that run while loading"},
      {"a relocation by a resolver",
       [](auto& o) { o.relocations()[0].r_info = ELF64_R_INFO(0, kResolver); },
       "it has functions that run while loading"},
      {"an initialiser", [](auto& o) { o.add_dynamic(DT_INIT, 0x1000); }, "it has an initialiser"},
      {"initialisers", [](auto& o) { o.add_dynamic(DT_INIT_ARRAY, 0x4020); },
       "it has initialisers"},
      {"early initialisers", [](auto& o) { o.add_dynamic(DT_PREINIT_ARRAY, 0x4020); },
       "it has initialisers"},
      {"a finaliser", [](auto& o) { o.add_dynamic(DT_FINI, 0x1000); }, "it has a finaliser"},
      {"finalisers", [](auto& o) { o.add_dynamic(DT_FINI_ARRAY, 0x4020); }, "it has finalisers"},
      {"another library", [](auto& o) { o.add_dynamic(DT_NEEDED, 1); }, "it needs another library"},
      {"an auditor", [](auto& o) { o.add_dynamic(DT_AUDIT, 1); }, "it needs another library"},
      {"a place for libraries", [](auto& o) { o.add_dynamic(DT_RUNPATH, 1); },
       "it needs another library"},
      {"a loader of its own", [](auto& o) { o.program_header(PT_NOTE).p_type = PT_INTERP; },
       "it asks for a loader of its own"},
      {"variables of threads", [](auto& o) { o.program_header(PT_NOTE).p_type = PT_TLS; },
       "it has variables of threads"},
      {"an undefined symbol", [](auto& o) { o.symbol("number").st_shndx = SHN_UNDEF; },
       "it needs 'number' from another library"},
      {"a dynamic entry that nobody knows", [](auto& o) { o.add_dynamic(0x6ffffdf5, 1); },
       "it has a dynamic entry of the unknown kind 0x6ffffdf5"},
      {"a program header that nobody knows",
       [](auto& o) { o.program_header(PT_NOTE).p_type = 0x65a3dbe6; },
       "it has a program header of the unknown type 1705237478"},
  };
  expect_refused(objects);
}

TEST(HostileObjects, WithMemoryThatIsWrittenAndExecuted) {
  const Hostile objects[] = {
      {"code that can be written", [](auto& o) { o.segment(PF_R | PF_X).p_flags |= PF_W; },
       "it has memory that can be written and executed"},
      {"data that can be executed", [](auto& o) { o.segment(PF_R | PF_W).p_flags |= PF_X; },
       "it has memory that can be written and executed"},
      {"a stack that can be executed",
       [](auto& o) { o.program_header(PT_GNU_STACK).p_flags |= PF_X; },
       "it wants a stack that can be executed"},
      {"code that cannot be read", [](auto& o) { o.segment(PF_R | PF_X).p_flags = PF_X; },
       "a segment has the rights 1"},
      {"relocations of code, by an entry", [](auto& o) { o.add_dynamic(DT_TEXTREL, 0); },
       "its code is changed while loading"},
      {"relocations of code, by a flag", [](auto& o) { o.add_dynamic(DT_FLAGS, DF_TEXTREL); },
       "its code is changed while loading"},
      {"flags of threads' variables", [](auto& o) { o.add_dynamic(DT_FLAGS, DF_STATIC_TLS); },
       "it has the flags 0x10"},
      {"flags of programs", [](auto& o) { o.add_dynamic(DT_FLAGS_1, DF_1_PIE); },
       "it has the flags 0x8000000"},
      {"a relocation within code", [](auto& o) { o.relocations()[0].r_offset = 0x1008; },
       "a relocation at 0x1008 lies outside of its data"},
      {"sealing of code",
       [](auto& o) { o.program_header(PT_GNU_RELRO).p_vaddr = o.segment(PF_R | PF_X).p_vaddr; },
       "what it wants sealed lies outside of its data"},
  };
  expect_refused(objects);
}

TEST(HostileObjects, WhoseRelocationsLeaveTheObject) {
  const Hostile objects[] = {
      {"far away", [](auto& o) { o.relocations()[0].r_offset = 0x7fff'0000'0000; },
       "a relocation at 0x7fff00000000 lies outside of its data"},
      {"before the start", [](auto& o) { o.relocations()[0].r_offset = -8; },
       "a relocation at 0xfffffffffffffff8 lies outside of its data"},
      {"half behind the end",
       [](auto& o) {
         const Elf64_Phdr& data = o.segment(PF_R | PF_W);
         o.relocations()[0].r_offset = 0x5000 - 4;
         EXPECT_LT(data.p_vaddr + data.p_memsz, 0x5000u);
       },
       "a relocation at 0x4ffc lies outside of its data"},
      {"to far away", [](auto& o) { o.relocations()[0].r_addend = 1 << 20; },
       "a relocation at 0x4020 points outside of its memory"},
      {"to before the start", [](auto& o) { o.relocations()[0].r_addend = -1; },
       "a relocation at 0x4020 points outside of its memory"},
      {"by a symbol that is not there",
       [](auto& o) { o.relocations()[2].r_info = ELF64_R_INFO(1000, kGlobalData); },
       "a relocation names symbol 1000 of 6"},
      {"of a type that kernels do not have",
       [](auto& o) { o.relocations()[2].r_info = ELF64_R_INFO(1, 5); },
       "it has a relocation of the unknown type 5"},
      {"in a table behind the end", [](auto& o) { o.dynamic(DT_RELA).d_un.d_ptr = 0x3f0; },
       "its relocations are cut off"},
      {"in a table of a size that is none", [](auto& o) { o.dynamic(DT_RELASZ).d_un.d_val = 145; },
       "its relocations are cut off"},
      {"compressed", [](auto& o) { o.add_dynamic(DT_RELR, 0x350); },
       "it has compressed relocations"},
      {"of another form", [](auto& o) { o.add_dynamic(DT_REL, 0x350); },
       "it has relocations of another architecture"},
      {"of another size", [](auto& o) { o.dynamic(DT_RELAENT).d_un.d_val = 16; },
       "its tables have entries of 16 bytes instead of 24"},
  };
  if (page_bytes() != 4096 || kMachine != EM_X86_64) GTEST_SKIP() << "addresses are those of x86";
  expect_refused(objects);
}

TEST(HostileObjects, WhoseSymbolsLie) {
  const Hostile objects[] = {
      {"a function in data",
       [](auto& o) { o.symbol("seven").st_value = o.segment(PF_R | PF_W).p_vaddr; },
       "function 'seven' lies outside of its code"},
      {"a function behind its code",
       [](auto& o) {
         const Elf64_Phdr& code = o.segment(PF_R | PF_X);
         o.symbol("seven").st_value = code.p_vaddr + code.p_memsz;
       },
       "function 'seven' lies outside of its code"},
      {"data that is nowhere",
       [](auto& o) { o.symbol("number").st_value = std::uint64_t{1} << 40; },
       "symbol 'number' lies outside of its memory"},
      {"an address of the host", [](auto& o) { o.symbol("number").st_shndx = SHN_ABS; },
       "symbol 'number' lies outside of its memory"},
      {"a variable of threads", [](auto& o) { set_type(o.symbol("number"), STT_TLS); },
       "it has variables of threads"},
      {"a name behind the names", [](auto& o) { o.symbol("number").st_name = 1 << 20; },
       "the names of its symbols are cut off"},
      {"names without an end", [](auto& o) { o.dynamic(DT_STRSZ).d_un.d_val = UINT64_MAX; },
       "the names of its symbols are cut off"},
      {"symbols that are nowhere", [](auto& o) { o.dynamic(DT_SYMTAB).d_un.d_ptr = UINT64_MAX; },
       "its symbols are cut off"},
      {"hashes that are nowhere", [](auto& o) { o.dynamic(DT_GNU_HASH).d_un.d_ptr = UINT64_MAX; },
       "its table of symbols is cut off"},
      {"more buckets than bytes",
       [](auto& o) {
         *o.template at_address<std::uint32_t>(o.dynamic(DT_GNU_HASH).d_un.d_ptr) = UINT32_MAX;
       },
       "its table of symbols is cut off"},
  };
  expect_refused(objects);
}

// So many functions of one name, in tables of their own behind all that relocated.c has.
std::vector<std::byte> namesakes(std::uint32_t count, std::size_t name_bytes) {
  EditedObject object("relocated");
  const Elf64_Sym seven = object.symbol("seven");
  // One bucket, and a chain through all of them.
  std::vector<std::uint32_t> hashes = {1, 1, 0, 0, 1};
  hashes.resize(hashes.size() + count);
  hashes.back() = 1;
  std::vector<Elf64_Sym> symbols(count + 1, seven);
  for (Elf64_Sym& symbol : symbols) symbol.st_name = 1;
  std::string tables(reinterpret_cast<const char*>(symbols.data()),
                     symbols.size() * sizeof(Elf64_Sym));
  const std::size_t names = tables.size();
  tables += '\0' + std::string(name_bytes, 'n') + '\0';
  tables.resize((tables.size() + 7) / 8 * 8);
  const std::size_t hash_table = tables.size();
  tables.append(reinterpret_cast<const char*>(hashes.data()),
                hashes.size() * sizeof(std::uint32_t));
  std::uint64_t address = 0;
  for (const Elf64_Phdr& entry : object.program_headers()) {
    if (entry.p_type == PT_LOAD) address = std::max(address, entry.p_vaddr + entry.p_memsz);
  }
  constexpr std::uint64_t kAligned = 1 << 16;
  address = (address + kAligned - 1) / kAligned * kAligned;
  const std::uint64_t offset = object.bytes().size();
  Elf64_Phdr& segment = object.program_header(PT_NOTE);
  segment = {.p_type = PT_LOAD,
             .p_flags = PF_R,
             .p_offset = offset,
             .p_vaddr = address,
             .p_paddr = address,
             .p_filesz = tables.size(),
             .p_memsz = tables.size(),
             .p_align = 8};
  object.dynamic(DT_SYMTAB).d_un.d_ptr = address;
  object.dynamic(DT_STRTAB).d_un.d_ptr = address + names;
  object.dynamic(DT_STRSZ).d_un.d_val = name_bytes + 2;
  object.dynamic(DT_GNU_HASH).d_un.d_ptr = address + hash_table;
  std::vector<std::byte> bytes = object.bytes();
  const auto more = std::as_bytes(std::span(tables));
  bytes.insert(bytes.end(), more.begin(), more.end());
  return bytes;
}

TEST(HostileObjects, WhoseSymbolsShareTheirNames) {
  EXPECT_EQ(refusal(namesakes(10, 20)), "") << "a short name that ten of them have";
  const std::vector<std::byte> bytes = namesakes(20'000, 500'000);
  const Result<Bytes> said = run_isolated("reading it",
                                          [&]() -> Result<Bytes> {
                                            Bytes answer;
                                            append_text(answer, refusal(bytes));
                                            return answer;
                                          },
                                          {.seconds = 60, .memory_bytes = 64 << 20});
  ASSERT_TRUE(said.ok()) << said.error().message;
  EXPECT_EQ(AnswerReader(*said).text(), "kernel object is refused: its symbols share their names");
}

TEST(HostileObjects, WhoseSegmentsLie) {
  const Hostile objects[] = {
      {"no segments", [](auto& o) { o.header().e_phnum = 0; }, "it has no segments"},
      {"thousands of them", [](auto& o) { o.header().e_phnum = 1000; },
       "it has 1000 program headers"},
      {"one over another",
       [](auto& o) { o.segment(PF_R | PF_W).p_vaddr = o.segment(PF_R | PF_X).p_vaddr; },
       "its segments overlap"},
      {"data on the pages of code",
       [](auto& o) {
         const Elf64_Phdr& code = o.segment(PF_R | PF_X);
         o.program_headers()[2].p_vaddr = code.p_vaddr + code.p_memsz;
       },
       "two of its segments share a page of memory"},
      {"around the end of all addresses",
       [](auto& o) { o.segment(PF_R | PF_W).p_memsz = UINT64_MAX; }, "its segments overlap"},
      {"an alignment that is none", [](auto& o) { o.segment(PF_R | PF_X).p_align = 3; },
       "a segment is aligned to 3 bytes"},
      {"two dynamic sections", [](auto& o) { o.program_header(PT_NOTE).p_type = PT_DYNAMIC; },
       "it has two dynamic sections"},
      {"none", [](auto& o) { o.program_header(PT_DYNAMIC).p_type = PT_NULL; },
       "it has no dynamic section"},
      {"one that is nowhere",
       [](auto& o) { o.program_header(PT_DYNAMIC).p_vaddr = UINT64_MAX - 15; },
       "its dynamic section is cut off"},
  };
  expect_refused(objects);
  EditedObject greedy("relocated");
  Elf64_Phdr& data = greedy.segment(PF_R | PF_W);
  data.p_memsz = std::uint64_t{1} << 46;
  EXPECT_EQ(refusal(greedy.bytes()), "kernel object is refused: its " +
                                         std::to_string(greedy.bytes().size()) + " bytes ask for " +
                                         std::to_string(data.p_vaddr + data.p_memsz) +
                                         " bytes of memory");
}

}  // namespace
}  // namespace attune::cpu
