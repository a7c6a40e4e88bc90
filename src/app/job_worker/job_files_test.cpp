#include "app/job_worker/job_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/temporary_directory_testing.h"

namespace attune::job_worker {
namespace {

// A job of somebody else, whose files were sent.
class SentFiles : public ::testing::Test {
 protected:
  SentFiles() {
    std::filesystem::create_directories(folder_.file("7-ab/weights"));
    folder_.write("7-ab/net.onnx", "x");
    folder_.write("7-ab/weights/x.npy", "x");
    folder_.write("secret.npy", "x");
    std::filesystem::create_symlink(folder_.file("secret.npy"), folder_.file("7-ab/link.npy"));
    job_.uid = ::geteuid() + 1;
    job_.request.files = "7-ab";
  }

  test::TemporaryDirectory folder_;
  client::JobStatus job_;
};

TEST_F(SentFiles, AreFoundByTheirNames) {
  const JobFiles files(job_, folder_.path());
  EXPECT_TRUE(files.are_sent());
  EXPECT_EQ(*files.model("net.onnx"), folder_.file("7-ab/net.onnx"));
  EXPECT_EQ(*files.model("resnet18"), "resnet18");
  EXPECT_EQ(*files.model("matmul:m=8,n=8,k=8"), "matmul:m=8,n=8,k=8");
  const auto options = files.options({.constants = {"k=3", "sizes=weights/x.npy"},
                                      .inputs = {{"in", "weights/x.npy"}},
                                      .records = "/home/me/records.db",
                                      .history = "/home/me/records.db"});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->constants[0], "k=3");
  EXPECT_EQ(options->constants[1], "sizes=" + folder_.file("7-ab/weights/x.npy"));
  EXPECT_EQ(options->inputs[0].path, folder_.file("7-ab/weights/x.npy"));
  EXPECT_EQ(options->records, "");
  EXPECT_EQ(options->history, "none");
}

TEST_F(SentFiles, NoOtherFileIsOpened) {
  const JobFiles files(job_, folder_.path());
  for (const std::string& name : {folder_.file("secret.npy"), std::string("../secret.npy"),
                                  std::string("weights/../../x.npy"), std::string("link.npy"),
                                  std::string("gone.npy"), std::string("./net.onnx.npy")}) {
    const auto options = files.options({.inputs = {{"in", name}}});
    ASSERT_FALSE(options.ok()) << name;
    EXPECT_EQ(options.error().message, "'" + name + "' was not sent with the job");
    EXPECT_FALSE(files.options({.constants = {"k=" + name}}).ok()) << name;
  }
  for (const std::string& name :
       {folder_.file("secret.npy"), std::string("elsewhere.onnx"), std::string("x.attune")}) {
    EXPECT_FALSE(files.model(name).ok()) << name;
  }
  // What lies where the worker works is found by any name but that of a model of the zoo.
  const std::filesystem::path before = std::filesystem::current_path();
  folder_.write("lonely", "x");
  folder_.write("resnet18", "x");
  std::filesystem::current_path(folder_.path());
  EXPECT_FALSE(files.model("lonely").ok());
  EXPECT_EQ(*files.model("resnet18"), "resnet18");
  std::filesystem::current_path(before);
}

TEST_F(SentFiles, ThatAreNoneLeadNowhere) {
  job_.request.files.clear();
  const JobFiles files(job_, folder_.path());
  EXPECT_TRUE(files.are_sent());
  EXPECT_FALSE(files.model(folder_.file("7-ab/net.onnx")).ok());
  EXPECT_EQ(*files.model("resnet18"), "resnet18");
}

TEST_F(SentFiles, AreNotNeededByThisUser) {
  job_.uid = ::geteuid();
  job_.request.files.clear();
  const JobFiles files(job_, folder_.path());
  EXPECT_FALSE(files.are_sent());
  EXPECT_EQ(*files.model(folder_.file("7-ab/net.onnx")), folder_.file("7-ab/net.onnx"));
  EXPECT_EQ(files.model("/gone.onnx").error().message,
            "the model '/gone.onnx' is not there any more");
}

}  // namespace
}  // namespace attune::job_worker
