#include "runtime/format/artifact.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "runtime/format/artifact_format.h"
#include "runtime/format/plan_json.h"
#include "runtime/format/sample_model_testing.h"

namespace attune::runtime {
namespace {

std::span<std::byte> span_of(const Memory& memory) {
  return {static_cast<std::byte*>(memory.data()), memory.bytes()};
}

Memory copy_of(std::span<const std::byte> bytes) {
  Memory memory = Memory::allocate(bytes.size()).value();
  if (!bytes.empty()) std::memcpy(memory.data(), bytes.data(), bytes.size());
  return memory;
}

// The message without the name in front.
std::string refusal(Memory bytes) {
  const auto artifact = Artifact::from_memory(std::move(bytes), "x");
  EXPECT_FALSE(artifact.ok());
  return artifact.ok() ? "" : artifact.error().message.substr(std::strlen("cannot load 'x': "));
}

TEST(PlanJson, RoundTrips) {
  for (Plan plan : {sum_model().plan, host_model().plan, empty_plan()}) {
    plan.features = {"avx2", "fma"};
    plan.body.push_back({HostCall{"Pad",
                                  {{"mode", std::string("re\"flect")},
                                   {"pads", std::vector<std::int64_t>{1, -2}},
                                   {"scales", std::vector<double>{0.1, 1e300, -0.0}},
                                   {"value", 2.0}},
                                  {{kNone, DType::F32, {}}},
                                  {},
                                  "pad"}});
    plan.body.push_back(
        {Loop{.trip_count = 2, .body = {}, .layer = "", .handovers = {{4, 5}, {1, 2}}}});
    const auto read = plan_from_json(plan_to_json(plan));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(*read, plan);
  }
  EXPECT_EQ(plan_from_json("{}").error().message,
            "the plan is malformed: field 'model' is missing");
  EXPECT_EQ(plan_from_json("[]").error().message,
            "the plan is malformed: field 'model' is missing");
}

TEST(Artifact, KeepsPlanWeightsAndCode) {
  const SampleModel sample = sum_model();
  const auto artifact = Artifact::from_memory(sample.bytes(), "sample");
  ASSERT_TRUE(artifact.ok()) << artifact.error().message;
  EXPECT_EQ(artifact->plan(), sample.plan);
  ASSERT_EQ(artifact->weights().size(), 4032u);  // up to a multiple of 64
  EXPECT_EQ(std::memcmp(artifact->weights().data(), sample.weights.data(), 4000), 0);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(artifact->weights().data()) % 64, 0u);
  ASSERT_EQ(artifact->objects().size(), 2u);
  EXPECT_TRUE(std::ranges::equal(artifact->objects()[1], sample.objects[1]));
}

class ArtifactFile : public ::testing::Test {
 protected:
  ArtifactFile()
      : folder_(std::filesystem::temp_directory_path() /
                ("attune-artifact-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~ArtifactFile() override { std::filesystem::remove_all(folder_); }
  std::string path(const char* name) const { return (folder_ / name).string(); }
  std::filesystem::path folder_;
};

TEST_F(ArtifactFile, IsTheSameAsInMemory) {
  const SampleModel sample = sum_model();
  const std::string file = path("m.attune");
  ASSERT_TRUE(write_artifact(file, sample.contents()).ok());
  const Memory bytes = sample.bytes();
  std::ifstream stream(file, std::ios::binary);
  const std::string read{std::istreambuf_iterator<char>(stream), {}};
  ASSERT_EQ(read.size(), bytes.bytes());
  EXPECT_EQ(std::memcmp(read.data(), bytes.data(), read.size()), 0);
  EXPECT_TRUE(looks_like_artifact(file));
  EXPECT_FALSE(looks_like_artifact(path("none")));
  const auto model = Model::load(file);
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_EQ((*model)->artifact().file_bytes(), static_cast<std::int64_t>(read.size()));
}

TEST_F(ArtifactFile, SaysWhatCannotBeReadOrWritten) {
  EXPECT_EQ(Model::load(path("none")).error().message,
            "cannot read '" + path("none") + "': No such file or directory");
  EXPECT_EQ(Model::load(folder_.string()).error().message,
            "cannot read '" + folder_.string() + "': Is a directory");
  std::ofstream(path("text")) << "hello, this is no artifact";
  const auto text = Model::load(path("text"));
  EXPECT_EQ(text.error().message,
            "cannot load '" + path("text") + "': it is not an Attune artifact");
  EXPECT_EQ(text.error().hint, "make one with 'attune compile MODEL -o FILE'");
  const Status full = write_artifact("/dev/full", sum_model().contents());
  EXPECT_EQ(full.error().message, "cannot write '/dev/full': no space left on the disk");
  EXPECT_FALSE(write_artifact(path("no/where"), sum_model().contents()).ok());
}

TEST_F(ArtifactFile, NothingIsWrittenForAnInvalidPlan) {
  SampleModel sample = sum_model();
  sample.plan.buffers[2].position = 1 << 20;
  EXPECT_FALSE(write_artifact(path("m.attune"), sample.contents()).ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST(Artifact, RefusesEveryFlippedBit) {
  const Memory good = sum_model().bytes();
  const std::size_t size = good.bytes();
  const auto refuses = [&](std::size_t at, int bit) {
    Memory bad = copy_of(span_of(good));
    span_of(bad)[at] ^= std::byte{1} << bit;
    return !Artifact::from_memory(std::move(bad), "x").ok();
  };
  for (std::size_t at = 0; at < sizeof(format::Header); ++at) {
    for (int bit = 0; bit < 8; ++bit) ASSERT_TRUE(refuses(at, bit)) << at << " bit " << bit;
  }
  for (std::size_t at = sizeof(format::Header); at < size; at += 97) {
    ASSERT_TRUE(refuses(at, static_cast<int>(at % 8))) << at << " of " << size;
  }
}

TEST(Artifact, RefusesEveryTruncation) {
  const Memory good = sum_model().bytes();
  for (std::size_t size = 0; size < good.bytes(); size += size < 256 ? 1 : 499) {
    EXPECT_FALSE(Artifact::from_memory(copy_of(span_of(good).first(size)), "x").ok()) << size;
  }
  EXPECT_EQ(refusal(copy_of(span_of(good).first(5))), "it is not an Attune artifact");
  EXPECT_EQ(refusal(copy_of(span_of(good).first(100))),
            "the artifact is damaged: it is cut short after 100 bytes");
  EXPECT_EQ(
      refusal(copy_of(span_of(good).first(1000))),
      "the artifact is damaged: it has 1000 bytes and should have " + std::to_string(good.bytes()));
}

TEST(Artifact, RefusesNewerVersionsAndForeignMachines) {
  Memory newer = sum_model().bytes();
  span_of(newer)[8] = std::byte{3};
  EXPECT_EQ(refusal(std::move(newer)),
            "it has format version 3, this runtime reads versions up to 2");
  SampleModel foreign = sum_model();
  foreign.plan.architecture = "mips";
  EXPECT_EQ(refusal(foreign.bytes()).substr(0, 37), "the code is for mips, this machine is");
  SampleModel modern = sum_model();
  modern.plan.features = {"avx9000", "teleport"};
  EXPECT_EQ(refusal(modern.bytes()),
            "the code needs CPU features that this machine lacks: avx9000, teleport");
}

TEST(Artifact, RefusesCodeThatRunsWhenLoaded) {
  SampleModel sample = sum_model();
  sample.objects[1] = test_object("starter");
  EXPECT_EQ(refusal(sample.bytes()), "kernel object is refused: it has initialisers");
  for (const char* name : {"resolver", "chooser"}) {
    sample.objects[1] = test_object(name);
    EXPECT_EQ(refusal(sample.bytes()),
              "kernel object is refused: it has functions that run while loading");
  }
}

// Large weights are checked where they are first read, and then every byte of what is read.
TEST(Artifact, VerifiesLargeWeightsAsTheyAreRead) {
  constexpr std::size_t kBytes = std::size_t{257} << 20;
  SampleModel sample;
  sample.plan = empty_plan();
  sample.weights.assign(kBytes / 4, 1.5f);
  Memory bytes = sample.bytes();
  span_of(bytes)[bytes.bytes() - 1] ^= std::byte{4};
  const auto artifact = Artifact::from_memory(std::move(bytes), "x");
  ASSERT_TRUE(artifact.ok()) << artifact.error().message;
  EXPECT_TRUE(artifact->verify_weights(0, 256 << 20).ok());
  EXPECT_EQ(artifact->verify_weights(kBytes - 64, 1).error().message,
            "the artifact is damaged: the checksum of weight chunk 256 does not match");
  EXPECT_FALSE(artifact->verify_all_weights().ok());
}

}  // namespace
}  // namespace attune::runtime
