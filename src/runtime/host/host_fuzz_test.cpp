// Every host operator on random types, shapes, values and attributes, in memory of exactly the size
// that is declared: it must answer or refuse, and the sanitizer builds watch what it touches. The
// number of calls per operator is a tenth of ATTUNE_FUZZ_MUTATIONS (300 unless given).
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <memory>

#include "base/rng.h"
#include "runtime/host/operators.h"

namespace attune::runtime {
namespace {

int calls_per_operator() {
  const char* given = std::getenv("ATTUNE_FUZZ_MUTATIONS");
  return (given != nullptr ? std::atoi(given) : 300) / 10;
}

DType random_type(Rng& rng) {
  // Often the types that operators ask for, so that calls get past the checks of types.
  static constexpr DType kUsual[] = {DType::F32, DType::I64, DType::Bool};
  return rng.chance(0.7) ? kUsual[rng.below(3)] : static_cast<DType>(rng.below(kDTypeCount));
}

struct Block {
  explicit Block(std::size_t size) : bytes(size), memory(new std::byte[size]) {}
  std::size_t bytes;
  std::unique_ptr<std::byte[]> memory;
};

HostTensor random_tensor(Rng& rng, DType type, const Shape& shape, std::vector<Block>& blocks) {
  const std::int64_t elements = shape.elements();
  const Block& block = blocks.emplace_back(static_cast<std::size_t>(elements) * byte_size(type));
  for (std::int64_t i = 0; i < elements; ++i) {
    double value = static_cast<double>(rng.between(-3, 4));
    if (value < 0 && name_of(type).front() == 'u') value = -value;
    write_element(block.memory.get(), type, i, value);
    if (type == DType::I64 && rng.chance(0.05)) {
      using Limits = std::numeric_limits<std::int64_t>;
      reinterpret_cast<std::int64_t*>(block.memory.get())[i] =
          rng.chance(0.5) ? Limits::max() : Limits::min();
    }
  }
  return {type, shape, block.memory.get(), static_cast<std::int64_t>(block.bytes),
          !rng.chance(0.03)};
}

Shape random_shape(Rng& rng) {
  Shape shape;
  for (std::uint64_t rank = rng.below(4); rank > 0; --rank) shape.push_back(rng.between(0, 4));
  return shape;
}

HostAttributes random_attributes(Rng& rng) {
  HostAttributes attributes;
  for (const char* name : {"axis", "keepdims", "k", "batch_dims", "sorted", "largest", "fmod"}) {
    if (rng.chance(0.3)) attributes[name] = rng.between(-3, 4);
  }
  for (const char* name : {"axes", "perm", "split", "pads", "repeats", "shape", "starts", "ends"}) {
    std::vector<std::int64_t> list(rng.below(4));
    for (std::int64_t& item : list) item = rng.between(-3, 4);
    if (rng.chance(0.3)) attributes[name] = list;
  }
  static const char* const kModes[] = {"constant", "reflect", "edge", "wrap"};
  static const char* const kReductions[] = {"none", "add", "mul", "min", "max"};
  if (rng.chance(0.5)) attributes["mode"] = std::string(kModes[rng.below(4)]);
  if (rng.chance(0.5)) attributes["reduction"] = std::string(kReductions[rng.below(5)]);
  return attributes;
}

TEST(HostFuzz, OperatorsStayWithinTheirMemory) {
  Rng rng(3);
  int succeeded = 0;
  for (const host::Operator& op : host::operators()) {
    for (int i = 0; i < calls_per_operator(); ++i) {
      std::vector<Block> blocks;
      std::vector<HostTensor> inputs;
      std::vector<HostTensor> outputs;
      const DType type = random_type(rng);
      const Shape shape = random_shape(rng);
      for (std::uint64_t count = 1 + rng.below(3); count > 0; --count) {
        const bool alike = rng.chance(0.5);
        const DType own = rng.chance(0.3) ? DType::I64 : type;
        inputs.push_back(
            random_tensor(rng, alike ? type : own, alike ? shape : random_shape(rng), blocks));
      }
      for (std::uint64_t count = 1 + rng.below(2); count > 0; --count) {
        const DType own = rng.chance(0.6) ? type : random_type(rng);
        const Block& block = blocks.emplace_back(rng.below(64) * byte_size(own));
        outputs.push_back({own, {}, block.memory.get(), static_cast<std::int64_t>(block.bytes)});
      }
      const Status done = run_host(op.name, random_attributes(rng), inputs, outputs);
      succeeded += done.ok() ? 1 : 0;
      if (!done.ok()) {
        ASSERT_FALSE(done.error().message.empty());
      }
    }
  }
  EXPECT_GT(succeeded, calls_per_operator());
}

}  // namespace
}  // namespace attune::runtime
