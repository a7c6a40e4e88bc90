// Damaged and hostile artifacts by the thousand: each must be refused, or run within its memory.
// The number of mutations is ATTUNE_FUZZ_MUTATIONS (300 unless given); the sanitizer builds watch.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "base/match.h"
#include "base/rng.h"
#include "runtime/format/artifact_format.h"
#include "runtime/format/plan_json.h"
#include "runtime/format/sample_model_testing.h"

namespace attune::runtime {
namespace {

int mutations() {
  const char* given = std::getenv("ATTUNE_FUZZ_MUTATIONS");
  return given != nullptr ? std::atoi(given) : 300;
}

std::span<std::byte> span_of(const Memory& memory) {
  return {static_cast<std::byte*>(memory.data()), memory.bytes()};
}

void damage(std::span<std::byte> bytes, Rng& rng) {
  const std::size_t at = rng.below(bytes.size());
  const std::size_t length = 1 + rng.below(std::min<std::size_t>(bytes.size() - at, 16));
  switch (rng.below(4)) {
    case 0:
      bytes[at] ^= std::byte{1} << rng.below(8);
      break;
    case 1:
      std::memset(bytes.data() + at, static_cast<int>(rng.below(256)), length);
      break;
    case 2:
      std::memmove(bytes.data() + at, bytes.data() + rng.below(bytes.size() - length + 1), length);
      break;
    default:
      for (std::size_t i = 0; i < length; ++i)
        bytes[at + i] = static_cast<std::byte>(rng.below(256));
  }
}

TEST(ArtifactFuzz, DamageIsRefused) {
  Rng rng(1);
  const Memory good = sum_model().bytes();
  for (int i = 0; i < mutations(); ++i) {
    const std::size_t size = rng.chance(0.2) ? rng.below(good.bytes()) : good.bytes();
    Memory bad = Memory::allocate(size).value();
    if (size == 0) continue;
    std::memcpy(bad.data(), good.data(), size);
    for (std::uint64_t k = 1 + rng.below(3); k > 0; --k) damage(span_of(bad), rng);
    if (size == good.bytes() && std::memcmp(bad.data(), good.data(), size) == 0) continue;
    const auto artifact = Artifact::from_memory(std::move(bad), "x");
    ASSERT_FALSE(artifact.ok()) << "mutation " << i;
    ASSERT_FALSE(artifact.error().message.empty());
  }
}

// Numbers worth trying in place of another one.
std::string odd_number(Rng& rng) {
  static const char* const kNumbers[] = {"0",
                                         "-1",
                                         "1",
                                         "2",
                                         "7",
                                         "8",
                                         "31",
                                         "32",
                                         "33",
                                         "63",
                                         "64",
                                         "65",
                                         "96",
                                         "128",
                                         "1024",
                                         "1048576",
                                         "4294967296",
                                         "9223372036854775807",
                                         "-9223372036854775808",
                                         "1.5",
                                         "\"x\"",
                                         "[1,0]"};
  return kNumbers[rng.below(std::size(kNumbers))];
}

// Changes a few numbers of the text, or its letters.
std::string mutate_text(std::string text, Rng& rng) {
  for (std::uint64_t k = 1 + rng.below(3); k > 0; --k) {
    const std::size_t start = text.find_first_of("0123456789", rng.below(text.size()));
    if (rng.chance(0.1) || start == std::string::npos) {
      text[rng.below(text.size())] = static_cast<char>(32 + rng.below(95));
      continue;
    }
    const std::size_t end = text.find_first_not_of("0123456789", start);
    text.replace(start, end - start, odd_number(rng));
  }
  return text;
}

// Whether every loop ends soon.
bool is_short(const Block& block) {
  for (const Instruction& instruction : block) {
    const bool fine = std::visit(
        Match{[](const Loop& loop) {
                return loop.trip_count >= 0 && loop.trip_count < 1000 && is_short(loop.body);
              },
              [](const If& branch) {
                return is_short(branch.then_block) && is_short(branch.else_block);
              },
              [](const auto&) { return true; }},
        instruction.kind);
    if (!fine) return false;
  }
  return true;
}

bool is_small(const Plan& plan) {
  std::int64_t bytes = plan.arena_bytes + plan.workspace_bytes;
  for (const auto* side : {&plan.inputs, &plan.outputs}) {
    for (const InterfaceTensor& tensor : *side) {
      bytes += std::min(maximal_bytes(tensor.type, tensor.dims).value(), std::int64_t{1} << 40);
    }
  }
  return bytes < (1 << 24);
}

// Runs the model on inputs as its plan asks for them; only what the sanitizers say counts.
void run_once(std::shared_ptr<const Model> model, ThreadPool& pool) {
  const Plan& plan = model->plan();
  std::vector<std::vector<char>> memory;
  std::vector<std::vector<std::int64_t>> shapes;
  std::vector<InputView> inputs;
  std::vector<OutputView> outputs;
  for (const InterfaceTensor& tensor : plan.inputs) {
    auto& data = memory.emplace_back(
        static_cast<std::size_t>(maximal_bytes(tensor.type, tensor.dims).value()));
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i % 3);
    auto& shape = shapes.emplace_back();
    for (const Dim& dim : tensor.dims) shape.push_back(dim.maximum);
    inputs.push_back({data.data(), tensor.type, shape});
  }
  for (const InterfaceTensor& tensor : plan.outputs) {
    auto& data = memory.emplace_back(
        static_cast<std::size_t>(maximal_bytes(tensor.type, tensor.dims).value()));
    outputs.push_back({data.data(), data.size()});
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i].shape = shapes[i];
  auto session = Session::create(std::move(model), pool);
  if (session.ok()) (void)session->run(inputs, outputs).ok();
}

TEST(ArtifactFuzz, HostilePlansStayWithinTheirMemory) {
  Rng rng(2);
  ThreadPool pool({});
  const SampleModel sample = host_model();
  const std::string good = plan_to_json(sample.plan);
  int ran = 0;
  for (int i = 0; i < mutations(); ++i) {
    const auto plan = plan_from_json(mutate_text(good, rng));
    if (!plan.ok() || !validate(*plan, {.weight_bytes = 64, .objects = 0}).ok()) continue;
    if (!is_short(plan->body) || !is_small(*plan)) continue;
    SampleModel changed = sample;
    changed.plan = *plan;
    auto artifact = Artifact::from_memory(changed.bytes(), "x");
    if (!artifact.ok()) continue;
    auto model = Model::from(std::move(artifact).value());
    ASSERT_TRUE(model.ok()) << model.error().message;
    run_once(*model, pool);
    ++ran;
  }
  EXPECT_GT(ran, mutations() / 50);
}

}  // namespace
}  // namespace attune::runtime
