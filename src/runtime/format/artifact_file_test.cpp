// Files that change while models made of them are in use.
#include "runtime/format/artifact_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/temporary_directory_testing.h"
#include "runtime/format/sample_model_testing.h"

namespace attune::runtime {
namespace {

class ChangedArtifact : public ::testing::Test {
 protected:
  // y = 2 * (x + weights) with so many bytes of weights behind those.
  std::string write(std::size_t more_bytes) {
    SampleModel sample = sum_model();
    sample.weights.resize(sample.weights.size() + more_bytes / sizeof(float));
    const std::string path = directory_.file("m.attune");
    EXPECT_TRUE(write_artifact(path, sample.contents()).ok());
    return path;
  }

  // The tenth element, or why there is none.
  static std::string run(Session& session) {
    const std::vector<float> x(1000, 1.0f);
    std::vector<float> y(1000);
    const std::int64_t shape[] = {1000};
    const InputView input{x.data(), DType::F32, shape};
    const OutputView output{y.data(), 4000};
    const Status status = session.run(std::span(&input, 1), std::span(&output, 1));
    return status.ok() ? std::to_string(static_cast<int>(y[10])) : status.error().message;
  }

  Session session_of(const std::string& path) {
    return Session::create(Model::load(path).value(), pool_).value();
  }

  static constexpr std::size_t kLarge = std::size_t{256} << 20;  // stays in the file
  test::TemporaryDirectory directory_;
  ThreadPool pool_{{}};
};

TEST_F(ChangedArtifact, DoesNotMatterOnceItWasRead) {
  for (const std::size_t more : {std::size_t{0}, std::size_t{1} << 20}) {
    const std::string path = write(more);
    Session session = session_of(path);
    std::filesystem::resize_file(path, 0);
    EXPECT_EQ(run(session), "22");
    EXPECT_EQ(run(session), "22");
  }
}

TEST_F(ChangedArtifact, IsAnErrorWhenItWasCut) {
  const std::string path = write(kLarge);
  Session session = session_of(path);
  EXPECT_EQ(run(session), "22");
  const auto bytes = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, 4096);
  EXPECT_EQ(run(session),
            "the artifact was changed while it was in use: it has 4096 bytes and had " +
                std::to_string(bytes));
  // Before the first run as well.
  const std::string again = write(kLarge);
  Session other = session_of(again);
  std::filesystem::resize_file(again, 0);
  EXPECT_EQ(run(other).substr(0, 44), "the artifact was changed while it was in use");
}

TEST_F(ChangedArtifact, IsAnErrorWhenItWasWritten) {
  const std::string path = write(kLarge);
  Session session = session_of(path);
  const auto now = std::filesystem::last_write_time(path);
  std::filesystem::last_write_time(path, now + std::chrono::seconds(1));
  EXPECT_EQ(run(session), "the artifact was changed while it was in use: it was written to");
}

TEST_F(ChangedArtifact, MayBeReplacedByAnother) {
  const std::string path = write(kLarge);
  Session session = session_of(path);
  write(0);  // beside, then renamed
  EXPECT_EQ(run(session), "22");
  std::filesystem::remove(path);
  EXPECT_EQ(run(session), "22");
}

TEST_F(ChangedArtifact, IsReadWhereItIs) {
  const std::string path = directory_.write("bytes", std::string(100'000, 'a'));
  auto file = ArtifactFile::open(path);
  ASSERT_TRUE(file.ok());
  // Whole pages within the range are mapped; all bytes are there.
  ASSERT_TRUE(file->load({5'000, 70'000}).ok());
  ASSERT_EQ(file->bytes().size(), 100'000u);
  for (const std::byte byte : file->bytes()) ASSERT_EQ(byte, std::byte{'a'});
  EXPECT_TRUE(file->check_unchanged().ok());
  // As if in the middle of a run: what was mapped reads as zeros, the rest is ours.
  std::filesystem::resize_file(path, 0);
  EXPECT_EQ(file->bytes()[30'000], std::byte{0});
  EXPECT_EQ(file->bytes()[100], std::byte{'a'});
  EXPECT_EQ(file->bytes()[99'000], std::byte{'a'});
  EXPECT_EQ(file->check_unchanged().error().message,
            "the artifact was changed while it was in use: it was cut short");
}

// What stays in the file takes none of this machine's memory.
TEST_F(ChangedArtifact, MayBeLargerThanMemory) {
  constexpr std::uint64_t kTerabyte = std::uint64_t{1} << 40;
  const std::string path = directory_.write("bytes", std::string(100'000, 'a'));
  std::filesystem::resize_file(path, kTerabyte);
  auto file = ArtifactFile::open(path);
  ASSERT_TRUE(file.ok());
  const Status loaded = file->load({50'000, kTerabyte - 60'000});
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(file->bytes()[40'000], std::byte{'a'});
  EXPECT_EQ(file->bytes()[99'999], std::byte{'a'});
  EXPECT_EQ(file->bytes()[kTerabyte - 1], std::byte{0});
}

}  // namespace
}  // namespace attune::runtime
