#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>

#include "base/built_path_testing.h"
#include "runtime/attune.h"
#include "runtime/format/sample_model_testing.h"

namespace attune::runtime {
namespace {

class CApi : public ::testing::Test {
 protected:
  CApi() {
    path_ = (std::filesystem::temp_directory_path() /
             ("attune-c-api-" + std::to_string(::getpid()) + ".attune"))
                .string();
    EXPECT_TRUE(write_artifact(path_, sum_model().contents()).ok());
  }
  ~CApi() override { std::filesystem::remove(path_); }
  std::string path_;
};

TEST_F(CApi, RunsAModel) {
  AttuneError error;
  AttuneModel* model = nullptr;
  AttuneThreadPool* pool = nullptr;
  AttuneSession* session = nullptr;
  ASSERT_EQ(attune_model_load(path_.c_str(), &model, &error), ATTUNE_OK) << error.message;
  ASSERT_EQ(attune_thread_pool_create(2, &pool, &error), ATTUNE_OK);
  ASSERT_EQ(attune_session_create(model, pool, &session, &error), ATTUNE_OK);
  EXPECT_STREQ(attune_model_name(model), "sample");
  EXPECT_EQ(attune_model_input_count(model), 1);
  AttuneTensorInfo info;
  ASSERT_EQ(attune_model_output(model, 0, &info, &error), ATTUNE_OK);
  EXPECT_STREQ(info.name, "y");
  EXPECT_EQ(info.bytes, 4000u);
  EXPECT_EQ(attune_model_output(model, 1, &info, &error), ATTUNE_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "there is no tensor 1 of 1");
  // What a session needs lives on.
  attune_model_destroy(model);
  attune_thread_pool_destroy(pool);

  std::vector<float> x(1000, 1.0f), y(1000);
  const int64_t shape[] = {1000};
  const int64_t short_shape[] = {999};
  const AttuneOutput output = {y.data(), 4000};
  AttuneInput input = {x.data(), ATTUNE_F32, 1, shape};
  ASSERT_EQ(attune_session_run(session, &input, 1, &output, 1, &error), ATTUNE_OK);
  EXPECT_EQ(y[10], 22.0f);
  double microseconds = -1;
  ASSERT_EQ(attune_session_time(session, 3, &microseconds, &error), ATTUNE_OK) << error.message;
  EXPECT_GE(microseconds, 0);
  EXPECT_EQ(attune_session_time(session, 0, &microseconds, &error), ATTUNE_INVALID_ARGUMENT);
  int32_t rank = 0;
  int64_t actual[ATTUNE_MAX_RANK];
  ASSERT_EQ(attune_session_output_shape(session, 0, &rank, actual, &error), ATTUNE_OK);
  EXPECT_EQ(rank, 1);
  EXPECT_EQ(actual[0], 1000);
  input.shape = short_shape;
  EXPECT_EQ(attune_session_run(session, &input, 1, &output, 1, &error), ATTUNE_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "input 'x' has shape 999, the model takes 1000");
  EXPECT_EQ(attune_session_run(session, &input, 1, &output, 1, nullptr), ATTUNE_INVALID_ARGUMENT);
  attune_session_destroy(session);
}

// Trusts signatures that begin with the byte that it was given; a checksum stands in for a key.
int32_t begins_with(void* user, const void* bytes, size_t byte_count, const void* signature,
                    size_t signature_bytes) {
  EXPECT_EQ(signature_bytes, 64u);
  EXPECT_GT(byte_count, 4000u);
  EXPECT_EQ(static_cast<const unsigned char*>(bytes)[1], 'A');
  return *static_cast<const char*>(signature) == *static_cast<const char*>(user) ? 0 : 1;
}

TEST_F(CApi, VerifiesSignatures) {
  AttuneError error;
  AttuneModel* model = nullptr;
  char key = 'k';
  EXPECT_EQ(attune_model_load_verified(path_.c_str(), begins_with, &key, &model, &error),
            ATTUNE_CORRUPT);
  EXPECT_EQ(error.message, "cannot load '" + path_ + "': it is not signed");
  const SignBytes sign = [](std::span<const std::byte>) -> Result<std::vector<std::byte>> {
    return std::vector<std::byte>(kSignatureBytes, std::byte{'k'});
  };
  ASSERT_TRUE(sign_artifact(path_, sign).ok());
  ASSERT_EQ(attune_model_load_verified(path_.c_str(), begins_with, &key, &model, &error), ATTUNE_OK)
      << error.message;
  attune_model_destroy(model);
  key = 'x';
  EXPECT_EQ(attune_model_load_verified(path_.c_str(), begins_with, &key, &model, &error),
            ATTUNE_CORRUPT);
  EXPECT_EQ(error.message,
            "cannot load '" + path_ + "': its signature is not one of a trusted key");
  EXPECT_EQ(attune_model_load_verified(path_.c_str(), nullptr, &key, &model, &error),
            ATTUNE_INVALID_ARGUMENT);
}

TEST_F(CApi, SaysWhatIsWrong) {
  AttuneError error;
  AttuneModel* model = nullptr;
  AttuneThreadPool* pool = nullptr;
  EXPECT_EQ(attune_model_load("/no/such/file", &model, &error), ATTUNE_NOT_FOUND);
  EXPECT_STREQ(error.message, "cannot read '/no/such/file': No such file or directory");
  EXPECT_STREQ(error.hint, "check the path");
  EXPECT_EQ(attune_thread_pool_create(-1, &pool, &error), ATTUNE_INVALID_ARGUMENT);
  EXPECT_EQ(attune_type_bytes(ATTUNE_F64), 8u);
}

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::array<char, 256> line;
  while (fgets(line.data(), line.size(), pipe) != nullptr) text += line.data();
  text += "status " + std::to_string(pclose(pipe) / 256);
  return text;
}

TEST_F(CApi, TheExampleRuns) {
  const std::string program = built_path(ATTUNE_EXAMPLE_C);
  const std::string ran = output_of(program + " " + path_);
  EXPECT_NE(ran.find("model 'sample'\ny: 1000 = 0 2.5 5 7.5\nstatus 0"), std::string::npos) << ran;
  EXPECT_EQ(output_of(program + " /no/such/file"),
            "error: cannot read '/no/such/file': No such file or directory\n"
            "hint: check the path\nstatus 1");
}

TEST(SharedRuntime, IsSmall) {
  if (!ATTUNE_RELEASE_BUILD) GTEST_SKIP() << "other builds carry debug information or checks";
  EXPECT_LE(std::filesystem::file_size(built_path(ATTUNE_SHARED_RUNTIME)), 600u * 1000u);
}

}  // namespace
}  // namespace attune::runtime
