// Signed artifacts. The runtime knows no cryptography, so a checksum stands in for it here; keys
// are tested in app/signing.
#include <gtest/gtest.h>

#include <cstring>

#include "base/temporary_directory_testing.h"
#include "runtime/format/artifact_format.h"
#include "runtime/format/sample_model_testing.h"

namespace attune::runtime {
namespace {

using Bytes = std::span<const std::byte>;

std::vector<std::byte> seal(Bytes bytes, std::uint64_t key) {
  std::vector<std::byte> signature(kSignatureBytes);
  const std::uint64_t sum = checksum(bytes, key);
  std::memcpy(signature.data(), &sum, sizeof sum);
  return signature;
}

SignBytes signer(std::uint64_t key) {
  return [key](Bytes bytes) -> Result<std::vector<std::byte>> { return seal(bytes, key); };
}

VerifyBytes verifier(std::uint64_t key) {
  return [key](Bytes bytes, Bytes signature) -> Status {
    if (std::ranges::equal(signature, seal(bytes, key))) return {};
    return Error{ErrorCode::Corrupt, "nobody knows who signed it", ""};
  };
}

class SignedArtifact : public ::testing::Test {
 protected:
  SignedArtifact() {
    EXPECT_TRUE(write_artifact(plain_, sum_model().contents()).ok());
    EXPECT_TRUE(write_artifact(signed_, sum_model().contents(), signer(7)).ok());
  }
  // Why it is refused, without its name.
  std::string refusal(const std::string& path, const VerifyBytes& verify) const {
    const auto artifact = Artifact::open(path, devices(), verify);
    return artifact.ok() ? "" : artifact.error().message.substr(path.size() + 16);
  }
  // The signed one with other bytes, and the checksums as they should be.
  std::string altered(std::size_t at) const {
    std::string bytes = directory_.read("signed");
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    format::Header header;
    std::memcpy(&header, bytes.data(), sizeof header);
    header.checksum = format::header_checksum(header);
    std::memcpy(bytes.data(), &header, sizeof header);
    return directory_.write("altered", bytes);
  }

  test::TemporaryDirectory directory_;
  std::string plain_ = directory_.file("plain"), signed_ = directory_.file("signed");
};

TEST_F(SignedArtifact, RunsWithAndWithoutItsKey) {
  for (const VerifyBytes& verify : {VerifyBytes(), verifier(7)}) {
    const auto artifact = Artifact::open(signed_, devices(), verify);
    ASSERT_TRUE(artifact.ok()) << artifact.error().message;
    EXPECT_EQ(artifact->plan(), sum_model().plan);
    EXPECT_EQ(artifact->weights().size(), 4032u);
    EXPECT_TRUE(Model::load(signed_, devices(), verify).ok());
  }
}

TEST_F(SignedArtifact, CoversAllOtherBytes) {
  std::size_t size = 0;
  const VerifyBytes look = [&](Bytes bytes, Bytes signature) -> Status {
    size = bytes.size() + signature.size();
    return std::ranges::equal(signature, seal(bytes, 7)) ? Status() : invalid("no");
  };
  ASSERT_TRUE(Artifact::open(signed_, devices(), look).ok());
  // The rest are the kind and the checksum of the signature.
  EXPECT_EQ(size + 16, directory_.read("signed").size());
}

TEST_F(SignedArtifact, IsRefusedUnsignedAlteredOrWronglySigned) {
  EXPECT_EQ(refusal(plain_, verifier(7)), "it is not signed");
  EXPECT_EQ(refusal(signed_, verifier(8)), "nobody knows who signed it");
  for (const std::size_t at : {std::size_t{150}, std::size_t{300}, std::size_t{9000}}) {
    EXPECT_EQ(refusal(altered(at), verifier(7)), "nobody knows who signed it") << at;
  }
}

// What would be refused for other reasons is refused for its signature first: nothing else is read.
TEST_F(SignedArtifact, IsVerifiedBeforeAnythingElse) {
  SampleModel foreign = sum_model();
  foreign.plan.architecture = "mips";
  ASSERT_TRUE(write_artifact(directory_.file("foreign"), foreign.contents(), signer(8)).ok());
  EXPECT_EQ(refusal(directory_.file("foreign"), verifier(7)), "nobody knows who signed it");
  EXPECT_EQ(refusal(directory_.file("foreign"), verifier(8)).substr(0, 20), "the code is for mips");
}

TEST_F(SignedArtifact, ShowsEveryFlippedBitWithoutAKey) {
  const std::string good = directory_.read("signed");
  for (std::size_t at = 0; at < good.size(); at += at + 80 < good.size() ? 53 : 1) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ (1 << at % 8));
    EXPECT_FALSE(Artifact::open(directory_.write("bad", bad)).ok()) << at << " of " << good.size();
  }
}

TEST_F(SignedArtifact, IsMadeOfOneThatIsThere) {
  ASSERT_TRUE(sign_artifact(plain_, signer(7)).ok());
  EXPECT_EQ(directory_.read("plain"), directory_.read("signed"));
  // Signed anew, it has one signature still.
  ASSERT_TRUE(sign_artifact(signed_, signer(8)).ok());
  EXPECT_EQ(directory_.read("signed").size(), directory_.read("plain").size());
  EXPECT_EQ(refusal(signed_, verifier(7)), "nobody knows who signed it");
  EXPECT_EQ(refusal(signed_, verifier(8)), "");
  const std::string text = directory_.write("text", "no artifact at all");
  EXPECT_EQ(sign_artifact(text, signer(7)).error().message,
            "cannot load '" + text + "': it is not an Attune artifact");
}

TEST_F(SignedArtifact, TakesNothingFromTheFileOnceVerified) {
  const auto artifact = Artifact::open(signed_, devices(), verifier(7));
  ASSERT_TRUE(artifact.ok());
  std::filesystem::resize_file(signed_, 0);
  EXPECT_TRUE(artifact->verify_all_weights().ok());
  EXPECT_TRUE(artifact->check_unchanged().ok());
}

}  // namespace
}  // namespace attune::runtime
