#include "tuner/records/line_file.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <vector>

namespace attune::records {
namespace {

class LineFile : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  void write(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
  }
  void write_compressed(const std::string& text) {
    gzFile file = gzopen(path_.c_str(), "wb");
    ASSERT_TRUE(file);
    ASSERT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())),
              static_cast<int>(text.size()));
    ASSERT_EQ(gzclose(file), Z_OK);
  }
  Status visit() {
    lines_.clear();
    return visit_lines(path_, [&](std::string_view line) {
      lines_.emplace_back(line);
      return true;
    });
  }

  std::string path_ = testing::TempDir() + "/attune_line_file." + std::to_string(getpid());
  std::vector<std::string> lines_;
};

using Lines = std::vector<std::string>;

TEST_F(LineFile, Plain) {
  write("one\n\ntwo\r\nthree");
  ASSERT_TRUE(visit().ok());
  EXPECT_EQ(lines_, (Lines{"one", "", "two\r", "three"}));
  write("");
  ASSERT_TRUE(visit().ok());
  EXPECT_TRUE(lines_.empty());
}

TEST_F(LineFile, CompressedAndLongerThanABuffer) {
  const std::string longer(200'000, 'x');
  write_compressed("one\n" + longer + "\ntwo\n");
  ASSERT_TRUE(visit().ok());
  EXPECT_EQ(lines_, (Lines{"one", longer, "two"}));
}

TEST_F(LineFile, StopsWhenAsked) {
  write("one\ntwo\nthree\n");
  int seen = 0;
  ASSERT_TRUE(visit_lines(path_, [&](std::string_view) { return ++seen < 2; }).ok());
  EXPECT_EQ(seen, 2);
}

TEST_F(LineFile, CompressedDataThatBreaksOff) {
  std::string noise;
  for (unsigned i = 0; i < 60'000; ++i) noise += std::to_string(i * 2654435761u) + "\n";
  write_compressed(noise);
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) / 2);
  const Status status = visit();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "cannot read '" + path_ + "': the compressed data ends early");
  EXPECT_FALSE(lines_.empty());
}

TEST_F(LineFile, Missing) {
  EXPECT_EQ(visit().error().message, "cannot read '" + path_ + "': no such file or directory");
}

}  // namespace
}  // namespace attune::records
