#include "compiler/model/text/model_text.h"

#include <gtest/gtest.h>

namespace attune::model_text {
namespace {

TEST(ModelText, FilesArePathsAndNamesWithASuffix) {
  for (const char* text : {"net.onnx", "net.attune", "./net", "/models/net", "models/"}) {
    EXPECT_TRUE(is_written_as_file(text)) << text;
  }
  for (const char* text : {"resnet18", "matmul:m=4,n=4,k=4", "net.onnx.txt", "onnx", ""}) {
    EXPECT_FALSE(is_written_as_file(text)) << text;
  }
  EXPECT_TRUE(is_artifact_name("a/net.attune"));
  EXPECT_FALSE(is_artifact_name("net.onnx"));
  EXPECT_TRUE(is_onnx_name("net.onnx"));
}

TEST(ModelText, ShortNamesAreWhatPeopleSay) {
  EXPECT_EQ(short_name("/models/net.v2.onnx"), "net.v2");
  EXPECT_EQ(short_name("net.onnx"), "net");
  EXPECT_EQ(short_name("net.attune"), "net");
  EXPECT_EQ(short_name("resnet18"), "resnet18");
  EXPECT_EQ(short_name("matmul:m=4,n=4,k=4"), "matmul");
}

}  // namespace
}  // namespace attune::model_text
