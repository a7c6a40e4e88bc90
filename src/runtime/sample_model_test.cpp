#include "runtime/sample_model_test.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>

namespace attune::runtime {

std::vector<std::byte> test_object(const std::string& name) {
  std::ifstream file(std::string(ATTUNE_TEST_KERNELS) + "/" + name + ".so", std::ios::binary);
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
  plan.architecture = host_architecture();
  return plan;
}

SampleModel::SampleModel() : plan(empty_plan()) {
  for (int i = 0; i < 1000; ++i) weights.push_back(static_cast<float>(i));
  objects = {test_object("vectors"), test_object("scale")};
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

}  // namespace attune::runtime
