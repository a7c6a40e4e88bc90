// Whole artifacts that an attacker may write: sound to the last checksum, and made to reach beyond
// their memory, their file or their rights. Each is refused with one sentence before any of its
// code runs: all code of theirs ends the process that runs it.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "base/temporary_directory_testing.h"
#include "runtime/format/artifact_format.h"
#include "runtime/format/plan_json.h"
#include "runtime/format/sample_model_testing.h"
#include "targets/cpu/device/edited_object_testing.h"

namespace attune::runtime {
namespace {

using cpu::EditedObject;
using format::Header;
using Text = std::string;  // bytes of an artifact

// One kernel, which traps, on two vectors and a constant.
SampleModel trapping_model() {
  SampleModel sample;
  sample.weights.resize(1008);
  sample.objects = {test_object("traps")};
  Plan& plan = sample.plan;
  plan.inputs = {{.name = "x", .type = DType::F32, .dims = {{.maximum = 1000}}}};
  plan.outputs = {{.name = "y", .type = DType::F32, .dims = {{.maximum = 1000}}}};
  plan.buffers = {{Place::Input, 0, 4000},
                  {Place::Constant, 0, 4000},
                  {Place::Arena, 64, 4000},
                  {Place::Output, 0, 4000}};
  plan.arena_bytes = 4096;
  plan.kernels = {{.symbol = "trapped",
                   .object = 0,
                   .workspace_bytes = 0,
                   .arguments = {{4000, false}, {4000, false}, {4000, true}, {4000, true}}}};
  plan.body = {{KernelCall{.kernel = 0, .buffers = {0, 1, 2, 3}, .layer = "trap", .flops = 0}},
               {Copy{.from = 2, .to = 3, .bytes = 4000}}};
  return sample;
}

Text text_of(const Memory& memory) {
  return {static_cast<const char*>(memory.data()), memory.bytes()};
}

Memory memory_of(const Text& text) {
  Memory memory = Memory::allocate(text.size()).value();
  std::memcpy(memory.data(), text.data(), text.size());
  return memory;
}

std::span<const std::byte> bytes_of(const Text& text) { return std::as_bytes(std::span(text)); }

// An artifact from parts that nobody has checked, with checksums as they should be.
Text assemble(const Text& graph, const Text& chunks, const Text& code, const Text& weights,
              const std::function<void(Header&)>& change = {}) {
  Header header;
  header.version = kPlainVersion;
  Text body;
  std::size_t kind = 0;
  for (Text section : {graph, chunks, code, weights}) {
    header.table[kind].offset = sizeof header + body.size();
    header.table[kind].bytes = section.size();
    const bool last = kind == format::kWeights;
    const std::uint64_t alignment =
        kind + 1 == format::kWeights ? format::kWeightAlignment : format::kSectionAlignment;
    const std::uint64_t end = sizeof header + body.size() + section.size();
    if (!last) section.resize(section.size() + format::align_up(end, alignment) - end);
    if (!last) {
      header.table[kind].checksum =
          format::section_checksum(bytes_of(section), static_cast<format::SectionKind>(kind));
    }
    body += section;
    ++kind;
  }
  header.file_bytes = sizeof header + body.size();
  if (change) change(header);
  header.checksum = format::header_checksum(header);
  return Text(reinterpret_cast<const char*>(&header), sizeof header) + body;
}

// The parts of the trapping model, which hostile ones differ from.
struct Parts {
  Plan plan = trapping_model().plan;
  Text graph = {};  // instead of the plan, if there is one
  Text code = {}, weights = {}, chunks = {};
  std::function<void(Header&)> header = {};

  Parts() {
    const Text good = text_of(trapping_model().bytes());
    Header front;
    std::memcpy(&front, good.data(), sizeof front);
    const auto section = [&](format::SectionKind kind) {
      return good.substr(front.table[kind].offset, front.table[kind].bytes);
    };
    code = section(format::kCode);
    weights = section(format::kWeights);
    chunks = section(format::kChunks);
  }
  Text text() const {
    return assemble(graph.empty() ? plan_to_json(plan) : graph, chunks, code, weights, header);
  }
};

// Why it is refused: by reading it, by loading its code, or when there is to be memory for a run.
std::string refusal(const Text& artifact) {
  auto opened = Artifact::from_memory(memory_of(artifact), "x");
  if (!opened.ok()) return opened.error().message;
  const auto model = Model::from(std::move(opened).value());
  if (!model.ok()) return model.error().message;
  ThreadPool pool({});
  const auto session = Session::create(*model, pool);
  return session.ok() ? "it is ready to run" : session.error().message;
}

struct Hostile {
  const char* what;
  std::function<void(Parts&)> edit;
  const char* refusal;  // how it begins
};

void expect_refused(std::span<const Hostile> artifacts) {
  ASSERT_EQ(refusal(Parts().text()), "it is ready to run");
  for (const Hostile& hostile : artifacts) {
    Parts parts;
    hostile.edit(parts);
    const std::string said = refusal(parts.text());
    EXPECT_EQ(said.substr(0, std::strlen(hostile.refusal)), hostile.refusal) << hostile.what;
    EXPECT_EQ(said.find('\n'), said.npos) << hostile.what;
  }
}

template <typename T>
T& part(Parts& parts, std::size_t index) {
  return std::get<T>(parts.plan.body[index].kind);
}

void run(const Text& artifact) {
  const auto model = Model::from(Artifact::from_memory(memory_of(artifact), "x").value()).value();
  ThreadPool pool({});
  Session session = Session::create(model, pool).value();
  std::vector<float> x(1000), y(1000);
  const std::int64_t shape[] = {1000};
  const InputView input{x.data(), DType::F32, shape};
  const OutputView output{y.data(), 4000};
  (void)session.run({&input, 1}, {&output, 1}).ok();
}

// So that the silence of the others means something.
TEST(HostileArtifacts, WouldEndTheProcessIfTheirCodeRan) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(run(Parts().text()), "");
}

TEST(HostileArtifacts, WhosePlansLeaveTheirMemory) {
  const Hostile artifacts[] = {
      {"an offset beyond the arena", [](Parts& p) { p.plan.buffers[2].position = 1 << 20; },
       "cannot load 'x': the plan is invalid: buffer 2 of 4000 bytes at 1048576 does not fit the "
       "4096 bytes of memory"},
      {"an offset before it", [](Parts& p) { p.plan.buffers[2].position = -64; },
       "cannot load 'x': the plan is invalid: buffer 2 of 4000 bytes at -64 does not fit the 4096 "
       "bytes of memory"},
      {"an offset that overflows",
       [](Parts& p) { p.plan.buffers[2].position = INT64_MAX / 64 * 64; },
       "cannot load 'x': the plan is invalid: buffer 2 of 4000 bytes at 9223372036854775744 does "
       "not fit the 4096 bytes of memory"},
      {"an offset between two lines", [](Parts& p) { p.plan.buffers[2].position = 8; },
       "cannot load 'x': the plan is invalid: buffer 2 at 8 is not aligned to 64 bytes"},
      {"a constant beyond the weights", [](Parts& p) { p.plan.buffers[1].position = 4096; },
       "cannot load 'x': the plan is invalid: buffer 1 of 4000 bytes at 4096 does not fit the 4032 "
       "bytes of weights"},
      {"an input larger than its tensor", [](Parts& p) { p.plan.buffers[0].bytes = 1 << 30; },
       "cannot load 'x': the plan is invalid: buffer 0 is larger than 'x'"},
      {"a buffer that is not there", [](Parts& p) { part<KernelCall>(p, 0).buffers[0] = 4; },
       "cannot load 'x': the plan is invalid: kernel 'trapped' uses buffer 4 of 4"},
      {"a buffer before the first", [](Parts& p) { part<KernelCall>(p, 0).buffers[0] = -1; },
       "cannot load 'x': the plan is invalid: kernel 'trapped' uses buffer -1 of 4"},
      {"a kernel that is not there", [](Parts& p) { part<KernelCall>(p, 0).kernel = 1; },
       "cannot load 'x': the plan is invalid: a call names kernel 1 of 1"},
      {"a buffer smaller than what the kernel touches",
       [](Parts& p) { p.plan.kernels[0].arguments[2].bytes = 4001; },
       "cannot load 'x': the plan is invalid: kernel 'trapped' needs 4001 bytes of buffer 2, which "
       "has 4000"},
      {"a kernel that writes to the weights",
       [](Parts& p) { p.plan.kernels[0].arguments[1].written = true; },
       "cannot load 'x': the plan is invalid: kernel 'trapped' writes buffer 1, which is read "
       "only"},
      {"a kernel that writes to the caller's input",
       [](Parts& p) { p.plan.kernels[0].arguments[0].written = true; },
       "cannot load 'x': the plan is invalid: kernel 'trapped' writes buffer 0, which is read "
       "only"},
      {"a copy that ends behind its buffer", [](Parts& p) { part<Copy>(p, 1).to_offset = 64; },
       "cannot load 'x': the plan is invalid: a copy of 4000 bytes leaves its buffers"},
      {"a copy that overflows", [](Parts& p) { part<Copy>(p, 1).from_offset = INT64_MAX; },
       "cannot load 'x': the plan is invalid: a copy of 4000 bytes leaves its buffers"},
  };
  expect_refused(artifacts);
}

TEST(HostileArtifacts, WhoseSizesLie) {
  const Hostile artifacts[] = {
      {"more memory than there is", [](Parts& p) { p.plan.arena_bytes = std::int64_t{1} << 60; },
       "cannot load 'x': the plan is invalid: it asks for 1152921504606846976 bytes of memory and "
       "0 of workspace"},
      {"less than none", [](Parts& p) { p.plan.arena_bytes = -4096; },
       "cannot load 'x': the plan is invalid: it asks for -4096 bytes of memory and 0 of "
       "workspace"},
      {"workspace that the plan does not count",
       [](Parts& p) { p.plan.kernels[0].workspace_bytes = 1 << 20; },
       "cannot load 'x': the plan is invalid: kernel 'trapped' asks for 1048576 bytes of "
       "workspace"},
      {"a tensor whose size overflows",
       [](Parts& p) {
         p.plan.inputs[0].dims = {{INT64_MAX}, {INT64_MAX}};
       },
       "cannot load 'x': the plan is invalid: tensor 'x' is too large"},
      {"an extent outside of their table", [](Parts& p) { p.plan.inputs[0].dims[0].extent = 7; },
       "cannot load 'x': the plan is invalid: tensor 'x' has a dimension of 1000 with run-time "
       "extent 7"},
      {"no threads", [](Parts& p) { p.plan.threads = 0; },
       "cannot load 'x': the plan is invalid: it is made for 0 threads"},
  };
  expect_refused(artifacts);
}

TEST(HostileArtifacts, WhoseSectionsLie) {
  const auto entry = [](Text& code, std::size_t word, std::uint64_t value) {
    std::memcpy(code.data() + word * sizeof value, &value, sizeof value);
  };
  const Hostile artifacts[] = {
      {"a section behind the file",
       [](Parts& p) { p.header = [](Header& h) { h.table[format::kCode].offset = 1 << 30; }; },
       "cannot load 'x': the artifact is damaged: section 'chunks' lies outside of the file"},
      {"a section that overflows",
       [](Parts& p) { p.header = [](Header& h) { h.table[format::kCode].bytes = ~0ull; }; },
       "cannot load 'x': the artifact is damaged: section 'code' lies outside of the file"},
      {"two sections in one place",
       [](Parts& p) {
         p.header = [](Header& h) { h.table[format::kCode] = h.table[format::kGraph]; };
       },
       "cannot load 'x': the artifact is damaged: section 'chunks' lies outside of the file"},
      {"a file of another size", [](Parts& p) { p.header = [](Header& h) { h.file_bytes += 64; }; },
       "cannot load 'x': the artifact is damaged: it has "},
      {"more code objects than bytes", [&](Parts& p) { entry(p.code, 0, 1ull << 60); },
       "cannot load 'x': the artifact is damaged: its code is cut short"},
      {"an object behind the code", [&](Parts& p) { entry(p.code, 1, 1 << 30); },
       "cannot load 'x': the artifact is damaged: code object 0 lies outside of its section"},
      {"an object that overflows", [&](Parts& p) { entry(p.code, 2, ~0ull); },
       "cannot load 'x': the artifact is damaged: code object 0 lies outside of its section"},
      {"fewer checksums than weights", [](Parts& p) { p.chunks.clear(); },
       "cannot load 'x': the artifact is damaged: it has 0 checksums for 4032 bytes of weights"},
      {"weights that are not those of the checksum", [](Parts& p) { p.weights[5] = 'x'; },
       "cannot load 'x': the artifact is damaged: the checksum of weight chunk 0 does not match"},
      {"no code", [](Parts& p) { p.code.assign(8, '\0'); },
       "cannot load 'x': the plan is invalid: kernel 'trapped' is in object 0 of 0"},
      {"a plan that is no JSON", [](Parts& p) { p.graph = "{\"model\": "; },
       "cannot load 'x': malformed JSON at byte 10: a value is missing or not a number"},
      {"a plan that is nested without end", [](Parts& p) { p.graph = Text(100'000, '['); },
       "cannot load 'x': malformed JSON at byte 161: nested too deeply"},
  };
  expect_refused(artifacts);
}

// In place, so that all offsets stay right.
Text edited_code(const Parts& parts, const std::function<void(EditedObject&)>& edit) {
  EditedObject object("traps");
  const Text before(reinterpret_cast<const char*>(object.bytes().data()), object.bytes().size());
  edit(object);
  Text code = parts.code;
  const std::size_t at = code.find(before);
  EXPECT_NE(at, code.npos);
  std::memcpy(code.data() + at, object.bytes().data(), object.bytes().size());
  return code;
}

TEST(HostileArtifacts, WhoseCodeIsNotWhatItSeems) {
  using Edit = std::function<void(EditedObject&)>;
  const auto code = [](const Edit& edit) {
    return [edit](Parts& p) { p.code = edited_code(p, edit); };
  };
  const auto resolver = [](EditedObject& o) {
    o.symbol("exported_trap").st_info =
        static_cast<unsigned char>(ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC));
  };
  const Hostile artifacts[] = {
      {"an initialiser",
       code([](EditedObject& o) { o.add_dynamic(DT_INIT, o.symbol("trapped").st_value); }),
       "cannot load 'x': kernel object is refused: it has an initialiser"},
      {"a resolver that runs while loading", code(resolver),
       "cannot load 'x': kernel object is refused: it has functions that run while loading"},
      {"code that can be written",
       code([](EditedObject& o) { o.segment(PF_R | PF_X).p_flags = PF_R | PF_W | PF_X; }),
       "cannot load 'x': kernel object is refused: it has memory that can be written and executed"},
      {"another library", code([](EditedObject& o) { o.add_dynamic(DT_NEEDED, 1); }),
       "cannot load 'x': kernel object is refused: it needs another library"},
      {"a kernel outside of the object",
       code([](EditedObject& o) { o.symbol("trapped").st_value = 1 << 30; }),
       "cannot load 'x': kernel object is refused: symbol 'trapped' lies outside of its memory"},
      {"a relocation outside of the object",
       code([](EditedObject& o) { o.relocations()[0].r_offset = 1 << 30; }),
       "cannot load 'x': kernel object is refused: a relocation at 0x40000000 lies outside of its "
       "data"},
      {"a kernel that is not there", [](Parts& p) { p.plan.kernels[0].symbol = "missing"; },
       "kernel object has no function 'missing'"},
      {"a kernel that is data", [](Parts& p) { p.plan.kernels[0].symbol = "number"; },
       "kernel object has no function 'number'"},
      {"an object that is not there", [](Parts& p) { p.plan.kernels[0].object = 3; },
       "cannot load 'x': the plan is invalid: kernel 'trapped' is in object 3 of 1"},
      {"code of another machine", [](Parts& p) { p.plan.architecture = "mips"; },
       "cannot load 'x': the code is for mips, this machine is "},
      {"a processor that is not here", [](Parts& p) { p.plan.features = {"warp-drive"}; },
       "cannot load 'x': the code needs CPU features that this machine lacks: warp-drive"},
      {"the cage of another target", [](Parts& p) { p.plan.target = "cuda -arch=sm_90a"; },
       "cannot load 'x': the plan is invalid: its target is 'cuda', its device 'cpu'"},
      {"a device that is not here", [](Parts& p) { p.plan.device = "abacus"; },
       "cannot load 'x': it is made for the device 'abacus', which is not here"},
  };
  expect_refused(artifacts);
}

class HostileSignatures : public ::testing::Test {
 protected:
  static SignBytes signer(char key) {
    return [key](std::span<const std::byte> bytes) -> Result<std::vector<std::byte>> {
      return seal(bytes, key);
    };
  }
  static std::vector<std::byte> seal(std::span<const std::byte> bytes, char key) {
    std::vector<std::byte> made(kSignatureBytes);
    const std::uint64_t sum = checksum(bytes, static_cast<std::uint64_t>(key));
    std::memcpy(made.data(), &sum, sizeof sum);
    return made;
  }
  // Why it is refused by somebody who trusts the key 'k'.
  std::string untrusted(const Text& artifact) {
    const std::string path = directory_.write("x", artifact);
    const auto verify = [](std::span<const std::byte> bytes,
                           std::span<const std::byte> signature) -> Status {
      if (std::ranges::equal(signature, seal(bytes, 'k'))) return {};
      return Error{ErrorCode::Corrupt, "nobody knows who signed it", ""};
    };
    const auto model = Model::load(path, devices(), verify);
    if (model.ok()) return "it is loaded";
    const std::string& said = model.error().message;
    return said.substr(said.find("': ") + 3);
  }
  static Text signed_text(char key) {
    return text_of(signed_bytes(bytes_of(Parts().text()), signer(key)).value());
  }

  test::TemporaryDirectory directory_;
};

TEST_F(HostileSignatures, AreRefusedByWhoTrustsAKey) {
  EXPECT_EQ(untrusted(signed_text('k')), "it is loaded");
  EXPECT_EQ(untrusted(Parts().text()), "it is not signed");
  EXPECT_EQ(untrusted(signed_text('e')), "nobody knows who signed it");
  // The signature of one with the bytes of another.
  Parts other;
  other.plan.model = "another";
  const Text theirs = text_of(signed_bytes(bytes_of(other.text()), signer('k')).value());
  const Text mine = signed_text('k');
  EXPECT_EQ(untrusted(theirs.substr(0, theirs.size() - sizeof(format::Signature)) +
                      mine.substr(mine.size() - sizeof(format::Signature))),
            "nobody knows who signed it");
  // One that says it is a plain one, or that its signature is elsewhere.
  const auto with_header = [&](const std::function<void(Header&)>& change) {
    Text text = mine;
    Header header;
    std::memcpy(&header, text.data(), sizeof header);
    change(header);
    header.checksum = format::header_checksum(header);
    std::memcpy(text.data(), &header, sizeof header);
    return untrusted(text);
  };
  EXPECT_EQ(with_header([](Header& h) { h.version = kPlainVersion; }), "it is not signed");
  EXPECT_EQ(with_header([](Header& h) { h.signature.offset = 0; }),
            "the artifact is damaged: its signature lies outside of the file");
  EXPECT_EQ(with_header([](Header& h) { h.signature.bytes = 8; }),
            "the artifact is damaged: its signature lies outside of the file");
}

}  // namespace
}  // namespace attune::runtime
