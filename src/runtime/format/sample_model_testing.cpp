#include "runtime/format/sample_model_testing.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/built_path_testing.h"
#include "targets/cpu/device/cpu_features.h"

namespace attune::runtime {

std::vector<std::byte> test_object(const std::string& name) {
  std::ifstream file(built_path(ATTUNE_TEST_KERNELS) + "/" + name + ".so", std::ios::binary);
  EXPECT_TRUE(file.good()) << name;
  const std::vector<char> chars{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::byte> bytes(chars.size());
  std::memcpy(bytes.data(), chars.data(), chars.size());
  return bytes;
}

Plan empty_plan() {
  Plan plan;
  plan.model = "sample";
  plan.target = "cpu";
  plan.architecture = cpu::host_architecture();
  return plan;
}

ArtifactContents SampleModel::contents() const {
  ArtifactContents contents{.plan = plan, .weights = {}, .objects = {}};
  if (!weights.empty()) contents.weights.push_back({0, std::as_bytes(std::span(weights))});
  for (const auto& object : objects) contents.objects.emplace_back(object);
  return contents;
}

Memory SampleModel::bytes() const {
  auto bytes = artifact_bytes(contents());
  EXPECT_TRUE(bytes.ok()) << bytes.error().message;
  return std::move(bytes).value();
}

std::shared_ptr<const Model> SampleModel::model() const {
  auto artifact = Artifact::from_memory(bytes(), "sample");
  EXPECT_TRUE(artifact.ok()) << artifact.error().message;
  auto model = Model::from(std::move(artifact).value());
  EXPECT_TRUE(model.ok()) << model.error().message;
  return *model;
}

SampleModel sum_model() {
  SampleModel sample;
  for (int i = 0; i < 1000; ++i) sample.weights.push_back(static_cast<float>(i));
  sample.objects = {test_object("vectors"), test_object("scale")};
  Plan& plan = sample.plan;
  plan.inputs = {{.name = "x", .type = DType::F32, .dims = {{.maximum = 1000}}}};
  plan.outputs = {{.name = "y", .type = DType::F32, .dims = {{.maximum = 1000}}}};
  plan.buffers = {{Place::Input, 0, 4000},
                  {Place::Constant, 0, 4000},
                  {Place::Arena, 64, 4000},
                  {Place::Output, 0, 4000}};
  plan.arena_bytes = 4096;
  plan.kernels = {{.symbol = "add_1000",
                   .object = 0,
                   .workspace_bytes = 0,
                   .arguments = {{4000, false}, {4000, false}, {4000, true}}},
                  {.symbol = "scale",
                   .object = 1,
                   .workspace_bytes = 0,
                   .arguments = {{4000, false}, {4000, true}}}};
  plan.body = {{KernelCall{.kernel = 0, .buffers = {0, 1, 2}, .layer = "sum", .flops = 1000}},
               {KernelCall{.kernel = 1, .buffers = {2, 3}, .layer = "double", .flops = 1000}}};
  return sample;
}

SampleModel host_model() {
  SampleModel sample;
  sample.weights = {1, 2, 3, 4, 5, 6, 7, 8};
  Plan& plan = sample.plan;
  plan.inputs = {{.name = "x", .type = DType::F32, .dims = {{.maximum = 8}}},
                 {.name = "choose", .type = DType::Bool, .dims = {}}};
  plan.outputs = {{.name = "found", .type = DType::F32, .dims = {{.maximum = 8, .extent = 0}}},
                  {.name = "steps", .type = DType::F32, .dims = {{.maximum = 3}, {.maximum = 8}}}};
  plan.extents = 1;
  plan.arena_bytes = 1024;
  plan.buffers = {
      {Place::Input, 0, 32},     // 0: x
      {Place::Input, 1, 1},      // 1: choose
      {Place::Output, 0, 32},    // 2: found
      {Place::Output, 1, 96},    // 3: steps
      {Place::Constant, 0, 32},  // 4: weights
      {Place::Arena, 0, 64},     // 5: indices of what is not zero
      {Place::Arena, 64, 32},    // 6: the value carried by the loop
      {Place::Arena, 128, 32},   // 7: the next value
      {Place::Arena, 192, 8},    // 8: the iteration number
      {Place::Arena, 256, 8},    // 9: as bool
      {Place::Arena, 320, 32},   // 10: found, before it is sorted
      {Place::Extents, 0, 8},    // 11
  };
  const std::vector<Dim> eight = {{.maximum = 8}};
  const std::vector<Dim> some = {{.maximum = 8, .extent = 0}};
  const Operand x{0, DType::F32, eight};
  const Operand weights{4, DType::F32, eight};
  const Operand carried{6, DType::F32, eight};
  const Operand next{7, DType::F32, eight};
  Loop loop{.trip_count = 3, .iteration = 8, .body = {}, .layer = "loop"};
  loop.body = {{If{.condition = 1,
                   .then_block = {{HostCall{"Add", {}, {carried, weights}, {next}, "add"}}},
                   .else_block = {{HostCall{"Mul", {}, {carried, weights}, {next}, "mul"}}}}},
               {Copy{.from = 7, .to = 3, .bytes = 32, .to_offset = 64, .to_step = -32}},
               {Copy{.from = 7, .to = 6, .bytes = 32}}};
  plan.body = {
      {HostCall{"NonZero", {}, {x}, {{5, DType::I64, {{1}, {.maximum = 8, .extent = 0}}}}, "nz"}},
      {HostCall{"Gather",
                {{"axis", std::int64_t{0}}},
                {x, {5, DType::I64, some}},
                {{10, DType::F32, some}},
                "gather"}},
      {HostCall{"Neg", {}, {{10, DType::F32, some}}, {{2, DType::F32, some}}, "neg"}},
      {Copy{.from = 0, .to = 6, .bytes = 32}},
      {loop}};
  return sample;
}

}  // namespace attune::runtime
