#include "app/signing/keys.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/temporary_directory_testing.h"

namespace attune::signing {
namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

::mode_t mode_of(const std::string& path) {
  struct stat status = {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

class Keys : public ::testing::Test {
 protected:
  Keys() { EXPECT_TRUE(new_key(key_).ok()); }
  test::TemporaryDirectory directory_;
  std::string key_ = directory_.file("key");
};

TEST_F(Keys, SignAndVerify) {
  const auto message = bytes_of("all bytes of an artifact");
  const auto sign = signer(key_);
  const auto verify = verifier(key_ + ".pub");
  ASSERT_TRUE(sign.ok() && verify.ok());
  const auto signature = (*sign)(message);
  ASSERT_TRUE(signature.ok());
  EXPECT_EQ(signature->size(), runtime::kSignatureBytes);
  EXPECT_TRUE((*verify)(message, *signature).ok());
  auto altered = message;
  altered[3] ^= std::byte{1};
  EXPECT_EQ((*verify)(altered, *signature).error().message,
            "its signature is not by a key of '" + key_ + ".pub', or it was altered since");
  auto forged = *signature;
  forged[0] ^= std::byte{1};
  EXPECT_FALSE((*verify)(message, forged).ok());
  EXPECT_FALSE((*verify)(message, std::span(*signature).first(63)).ok());
}

TEST_F(Keys, OthersAreNotTrusted) {
  ASSERT_TRUE(new_key(directory_.file("other")).ok());
  const auto message = bytes_of("x");
  const auto signature = (*signer(directory_.file("other")))(message);
  EXPECT_FALSE((*verifier(key_ + ".pub"))(message, *signature).ok());
  // A file of both keys trusts both.
  directory_.write("both", directory_.read("key.pub") + directory_.read("other.pub"));
  EXPECT_TRUE((*verifier(directory_.file("both")))(message, *signature).ok());
}

TEST_F(Keys, BelongToTheirOwnerAndAreNeverOverwritten) {
  EXPECT_EQ(mode_of(key_), 0600u);
  const std::string before = directory_.read("key");
  EXPECT_EQ(new_key(key_).error().message, "'" + key_ + "' exists, and keys are not overwritten");
  EXPECT_EQ(directory_.read("key"), before);
  // Nor the public one, and then there is no private one either.
  directory_.write("half.pub", "something");
  EXPECT_FALSE(new_key(directory_.file("half")).ok());
  EXPECT_EQ(directory_.read("half.pub"), "something");
  EXPECT_FALSE(std::filesystem::exists(directory_.file("half")));
  EXPECT_FALSE(new_key(directory_.file("no/folder/key")).ok());
}

TEST_F(Keys, SayWhatIsWrong) {
  EXPECT_EQ(signer(directory_.file("none")).error().message,
            "cannot read the key '" + directory_.file("none") + "': No such file or directory");
  EXPECT_EQ(signer(key_ + ".pub").error().message,
            "'" + key_ + ".pub' holds no private Ed25519 key without a password");
  EXPECT_EQ(verifier(key_).error().message, "'" + key_ + "' holds no public Ed25519 key");
  EXPECT_EQ(verifier("/dev/zero").error().message, "'/dev/zero' is no key");
  ASSERT_EQ(::chmod(key_.c_str(), 0640), 0);
  EXPECT_EQ(signer(key_).error().message,
            "the private key '" + key_ + "' has the mode 0640, others may use it");
}

}  // namespace
}  // namespace attune::signing
