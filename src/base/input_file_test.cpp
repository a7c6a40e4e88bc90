#include "base/input_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/temporary_directory_testing.h"
#include "base/text_file.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

class InputFileTest : public testing::Test {
 protected:
  std::string why(const std::string& path, std::uint64_t most = kLargestTextBytes) const {
    const auto text = read_text_file(path, most);
    if (text.ok()) return "ok";
    const std::string begin = "cannot read '" + path + "': ";
    EXPECT_TRUE(text.error().message.starts_with(begin)) << text.error().message;
    return text.error().message.substr(begin.size());
  }
  test::TemporaryDirectory directory_;
};

TEST_F(InputFileTest, ReadsRegularFilesUpToALimit) {
  const std::string path = directory_.write("a", "12345");
  EXPECT_EQ(read_text_file(path, 5).value(), "12345");
  EXPECT_EQ(why(path, 4), "it has 5 bytes, more than 4");
  EXPECT_EQ(read_text_file(directory_.write("b", "")).value(), "");
  // Says that it is empty, and is not.
  EXPECT_GT(read_text_file("/proc/self/status").value().size(), 100u);
  EXPECT_EQ(why("/proc/self/status", 10), "it has more than 10 bytes");
  // Sparse: would take as much memory as it says.
  fs::resize_file(path, std::uintmax_t{1} << 40);
  EXPECT_EQ(why(path), "it has 1099511627776 bytes, more than 1073741824");
}

TEST_F(InputFileTest, RefusesWhatIsNoRegularFile) {
  EXPECT_EQ(why("/dev/zero"), "it is not a regular file");
  EXPECT_EQ(why(directory_.path().string()), "it is a directory");
  ASSERT_EQ(::mkfifo(directory_.file("pipe").c_str(), 0600), 0);
  EXPECT_EQ(why(directory_.file("pipe")), "it is not a regular file");
  EXPECT_EQ(why(directory_.file("none")), "no such file or directory");
  EXPECT_EQ(read_text_file(directory_.file("none")).error().code, ErrorCode::NotFound);
}

TEST_F(InputFileTest, BelowAFolderLinksDoNotLeadOut) {
  const std::string folder = directory_.file("in");
  fs::create_directories(folder + "/deep");
  directory_.write("in/deep/own", "own");
  directory_.write("secret", "secret");
  const auto below = [&](const std::string& relative, std::vector<std::string> others = {}) {
    const auto file = InputFile::open_below(folder, relative, others);
    return file.ok() ? file->read(100).value() : file.error().message;
  };
  EXPECT_EQ(below("deep/own"), "own");
  fs::create_symlink("deep/own", folder + "/name");
  EXPECT_EQ(below("name"), "own");
  fs::create_symlink("../secret", folder + "/out");
  EXPECT_EQ(below("out"), "cannot read '" + folder + "/out': it is a link to '" +
                              directory_.file("secret") + "', out of the folder");
  EXPECT_EQ(below("out", {directory_.path().string()}), "secret");
  fs::create_directory_symlink("..", folder + "/up");
  EXPECT_NE(below("up/secret").find("out of the folder"), std::string::npos);
  EXPECT_EQ(below("none"), "cannot read '" + folder + "/none': no such file or directory");
  EXPECT_EQ(below("deep"), "cannot read '" + folder + "/deep': it is a directory");
  // A folder whose name begins alike is another one.
  directory_.write("inside", "other");
  fs::create_symlink("../inside", folder + "/alike");
  EXPECT_NE(below("alike").find("out of the folder"), std::string::npos);
}

}  // namespace
}  // namespace attune
