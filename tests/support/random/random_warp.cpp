#include "tests/support/random/random_warp.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "compiler/ir/interpret/interpret.h"
#include "compiler/ir/interpret/launches.h"
#include "compiler/ir/nodes/array.h"
#include "compiler/ir/text/parse.h"
#include "compiler/ir/text/print.h"
#include "compiler/lower/lower.h"

namespace attune::test {
namespace {

struct Instruction {
  const char* type;
  const char* name;
  std::int64_t terms;
};
constexpr Instruction kInstructions[] = {
    {"f16", "mma_16x8x16_f16", 16},   {"bf16", "mma_16x8x16_bf16", 16},
    {"f32", "mma_16x8x8_tf32", 8},    {"f16", "mma_16x8x32_f16", 32},
    {"bf16", "mma_16x8x32_bf16", 32}, {"f32", "mma_16x8x16_tf32", 16}};

// A copy of a tile by all threads, some elements at once.
std::string fetch(Rng& rng, const std::string& operand, std::int64_t warps, bool turned,
                  std::int64_t buffers) {
  const std::string stage = "cache." + operand;
  std::string text = fmt::format(
      "cache_read {0} anchor\ncompute_at {1} anchor k.0\nset_scope {1} shared\n", operand, stage);
  if (turned) text += fmt::format("layout {} i1 i0\n", stage);
  if (rng.chance(0.5)) text += fmt::format("storage_align {} 8 {}\n", stage, rng.below(5));
  if (rng.chance(0.5)) {
    text += fmt::format("split {0} i0 {1}\nsplit {0} i1 32 {2}\n", stage, warps,
                        rng.chance(0.5) ? 2 : 4);
    text += fmt::format("bind {0} i0.1 thread.y\nbind {0} i1.1 thread.x\n", stage);
    if (rng.chance(0.7)) text += fmt::format("vectorize {} i1.2\n", stage);
  } else {
    text += fmt::format("fuse {0} i0 i1\nsplit {0} i0*i1 {1} 32 {2}\n", stage, warps,
                        rng.chance(0.5) ? 2 : 4);
    text += fmt::format("bind {0} i0*i1.1 thread.y\nbind {0} i0*i1.2 thread.x\n", stage);
    if (rng.chance(0.7)) text += fmt::format("vectorize {} i0*i1.3\n", stage);
  }
  if (buffers > 1) text += fmt::format("pipeline {} {}\n", stage, buffers);
  return text;
}

float to_tf32(float x) {
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(x) + 0x1000u) & 0xffffe000u);
}

}  // namespace

WarpCase random_warp_product(Rng& rng) {
  const Instruction& mma = kInstructions[rng.below(std::size(kInstructions))];
  const std::int64_t rows = rng.between(1, 2), columns = rng.between(1, 3);  // tiles of a warp
  const std::int64_t warps_y = rng.between(1, 2), warps_z = rng.between(1, 2);
  // The instruction's rows along the rows of the result, or along its columns.
  const bool turned = rng.chance(0.4);
  const std::int64_t steps_i = turned ? 4 : 8, steps_j = turned ? 8 : 4;
  const std::int64_t m = 2 * steps_i * rows * warps_y * rng.between(1, 2);
  const std::int64_t n = 2 * steps_j * columns * warps_z * rng.between(1, 2);
  const std::int64_t block = rng.between(1, 2), k = mma.terms * block * rng.between(1, 4);
  const bool half = std::string_view(mma.type) != "f32";
  const auto term = [&](const char* read) {
    return half ? fmt::format("cast<f32>({})", read) : std::string(read);
  };
  WarpCase made{{}, {}, mma.name};
  const bool transposed = rng.chance(0.4);  // b as it is for rows of terms
  made.program = fmt::format(
      "program product {{\n  input a: {0}[{1}, {3}]\n  input b: {0}[{4}]\n"
      "  stage anchor(i: {1}, j: {2}) = sum(k: {3}) {5} * {6}\n"
      "  stage 'output'(i: {1}, j: {2}) = max(anchor[i, j], 0.0f32) + 1.0f32\n"
      "  output 'output'\n}}\n",
      mma.type, m, n, k, transposed ? fmt::format("{}, {}", n, k) : fmt::format("{}, {}", k, n),
      term("a[i, k]"), term(transposed ? "b[j, k]" : "b[k, j]"));
  std::string& t = made.trace;
  const std::string first = turned ? "j.2" : "i.2", second = turned ? "i.2" : "j.2";
  t = fmt::format("split output i {} {} {}\nsplit output j {} {} {}\n", warps_y, steps_i, 2 * rows,
                  warps_z, steps_j, 2 * columns);
  t += fmt::format("reorder output i.0 j.0 i.1 j.1 {0} {1} i.3 j.3\nfuse output {0} {1}\n", first,
                   second);
  t += "bind output i.0 block.y\nbind output j.0 block.x\nbind output i.1 thread.y\n";
  t += fmt::format("bind output j.1 thread.z\nbind output {0}*{1} thread.x\n", first, second);
  t += fmt::format("compute_at anchor output {0}*{1}\nset_scope anchor register\n", first, second);
  t += fmt::format("split anchor i 2\nsplit anchor j 2\nsplit anchor k {} {}\n", block, mma.terms);
  t += "reorder anchor k.0 k.1 i.0 j.0 i.1 j.1 k.2\nunroll anchor i.0\nunroll anchor j.0\n";
  const std::int64_t buffers = rng.chance(0.6) ? rng.between(2, 4) : 1;
  if (rng.chance(0.9)) t += fetch(rng, "a", warps_y, rng.chance(0.2), buffers);
  if (rng.chance(0.9)) t += fetch(rng, "b", warps_y, rng.chance(0.4), buffers);
  t += fmt::format("tensorize anchor i.1 {}\n", mma.name);
  return made;
}

namespace {

struct Arrays {
  std::vector<ir::Array> given, rounded;  // inputs, and what the intrinsic makes of them
};

Arrays inputs_of(const ir::Program& program, Rng& rng, bool exact, bool tf32) {
  Arrays arrays;
  for (const ir::Input& input : program.inputs) {
    ir::Array array(input.buffer->type, input.buffer->shape);
    for (std::int64_t i = 0; i < array.count(); ++i) {
      const double real = rng.uniform() * 2 - 1;
      array.set_real(i, exact ? static_cast<double>(rng.between(-8, 8)) : real);
    }
    arrays.given.push_back(array);
    for (std::int64_t i = 0; tf32 && i < array.count(); ++i) {
      array.set_real(i, to_tf32(static_cast<float>(array.real(i))));
    }
    arrays.rounded.push_back(std::move(array));
  }
  return arrays;
}

std::string compare(const ir::Array& got, const ir::Array& wanted, double tolerance) {
  for (std::int64_t i = 0; i < wanted.count(); ++i) {
    if (std::abs(got.real(i) - wanted.real(i)) <= tolerance) continue;
    return fmt::format("element {} is {}, not {}", i, got.real(i), wanted.real(i));
  }
  return {};
}

// Empty, or what is wrong.
std::string run_case(const WarpCase& c, const ir::Program& program, const ir::Kernel& kernel,
                     std::uint64_t seed, bool exact) {
  Rng rng(seed + 7);
  const Arrays inputs = inputs_of(program, rng, exact, c.intrinsic.ends_with("tf32"));
  const auto expected = ir::interpret(program, inputs.rounded);
  if (!expected.ok()) return expected.error().message;
  std::vector<ir::Array> arrays = inputs.given;
  for (ir::Array& array : arrays) array.shape = {array.count()};
  arrays.emplace_back(ir::kF32, std::vector<std::int64_t>{expected->front().count()});
  const auto findings = ir::run_launches(kernel, arrays, static_cast<int>(arrays.size()) - 1);
  if (!findings.ok()) return findings.error().message;
  for (const ir::Finding& finding : *findings) {
    return fmt::format("{}: {}", to_string(finding.kind), finding.text);
  }
  return compare(arrays.back(), expected->front(), exact ? 0 : 1e-5);
}

}  // namespace

WarpCounts compare_random_warps(std::uint64_t seed, std::int64_t wanted) {
  WarpCounts counts;
  for (; counts.agreed < wanted && counts.failures.empty(); ++seed) {
    Rng rng(seed);
    const WarpCase c = random_warp_product(rng);
    const auto wrong = [&](const std::string& why) {
      counts.failures.push_back(fmt::format("seed {}: {}\n{}{}", seed, why, c.program, c.trace));
    };
    const ir::Program program = ir::parse_program(c.program).value();
    const auto state = schedule::replay(program, schedule::parse_trace(c.trace).value());
    if (!state.ok()) {
      wrong(state.error().message);
      continue;
    }
    lower::Options options;
    options.pipeline = lower::launch_pipeline();
    const auto lowered = lower::lower(*state, options);
    if (!lowered.ok()) {
      wrong(lowered.error().message);
      continue;
    }
    std::string why;
    for (bool exact : {true, false}) {
      if (why.empty()) why = run_case(c, program, lowered->main, seed, exact);
    }
    if (!why.empty()) {
      wrong(why + "\n" + ir::to_string(lowered->main));
      continue;
    }
    ++counts.agreed;
    (c.intrinsic.ends_with("tf32") ? counts.tf32 : counts.halves) += 1;
    counts.pipelined += c.trace.find("pipeline") != std::string::npos;
  }
  return counts;
}

}  // namespace attune::test
