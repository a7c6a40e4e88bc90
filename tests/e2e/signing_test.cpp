// Signed artifacts as users make and run them.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/temporary_directory_testing.h"
#include "tests/support/process.h"

namespace attune {
namespace {

class Signing : public ::testing::Test {
 protected:
  // In a shell in the test's directory; $A is the program.
  test::ProcessResult shell(const std::string& line) const {
    return test::run_process(
        {"bash", "-c", "cd '" + directory_.path().string() + "'; " + line},
        {{"A", test::attune_program()}, {"XDG_DATA_HOME", directory_.file("data")}});
  }
  void works(const std::string& line) const {
    const test::ProcessResult result = shell(line);
    EXPECT_EQ(result.status, 0) << line << "\n" << result.output << result.errors;
  }
  // The sentence with which it fails.
  std::string refusal(const std::string& line) const {
    const test::ProcessResult result = shell(line);
    EXPECT_EQ(result.status, 1) << line << "\n" << result.output << result.errors;
    EXPECT_EQ(result.output, "");
    return result.errors.substr(0, result.errors.find('\n'));
  }

  Signing() {
    works("$A key new mine && $A key new other");
    works("$A compile mlp -o plain.attune --no-look");
    works("$A compile mlp -o signed.attune --no-look --sign mine");
  }
  test::TemporaryDirectory directory_;
};

const char* const kWrong = "its signature is not by a key of 'mine.pub', or it was altered since";

TEST_F(Signing, TrustsWhatWasSigned) {
  works("$A run signed.attune --trust mine.pub");
  works("$A bench signed.attune --trust mine.pub --repeats 1");
  works("$A check signed.attune --trust mine.pub");
  works("$A run signed.attune");
  works("$A run mlp --trust mine.pub");  // compiled here
  works("ATTUNE_TRUST=mine.pub $A run signed.attune");
  works("ATTUNE_TRUST=other.pub $A run signed.attune --trust mine.pub");
  works("cat other.pub mine.pub > both && $A run signed.attune --trust both");
}

TEST_F(Signing, RefusesAllElse) {
  for (const std::string verb : {"run", "bench", "check"}) {
    EXPECT_EQ(refusal("$A " + verb + " plain.attune --trust mine.pub"),
              "attune: error: cannot load 'plain.attune': it is not signed");
    EXPECT_EQ(refusal("$A compile mlp -o foreign.attune --no-look --sign other -q; $A " + verb +
                      " foreign.attune --trust mine.pub"),
              std::string("attune: error: cannot load 'foreign.attune': ") + kWrong);
    // One byte of the weights.
    EXPECT_EQ(refusal("cp signed.attune altered.attune; printf x | dd of=altered.attune bs=1 "
                      "seek=$(($(stat -c %s signed.attune) - 5000)) conv=notrunc 2> dd; $A " +
                      verb + " altered.attune --trust mine.pub"),
              std::string("attune: error: cannot load 'altered.attune': ") + kWrong);
    EXPECT_EQ(refusal("ATTUNE_TRUST=mine.pub $A " + verb + " plain.attune"),
              "attune: error: cannot load 'plain.attune': it is not signed");
  }
}

// An artifact is one by its name, also for check.
TEST_F(Signing, ChecksArtifactsAsOthersDo) {
  EXPECT_EQ(refusal("$A check none.attune --trust mine.pub"),
            refusal("$A run none.attune --trust mine.pub"));
  const test::ProcessResult exact = shell("$A check signed.attune --trust mine.pub --exact");
  EXPECT_EQ(exact.status, 2);
  EXPECT_EQ(exact.errors.find("attune: error: 'signed.attune' is an artifact, compiled for 'cpu "),
            0u)
      << exact.errors;
}

TEST_F(Signing, TuningSigns) {
  works("$A tune mlp --trials 2 --history none -o tuned.attune --sign mine -q");
  works("$A run tuned.attune --trust mine.pub");
  EXPECT_EQ(refusal("$A run tuned.attune --trust other.pub").substr(0, 56),
            "attune: error: cannot load 'tuned.attune': its signature");
}

TEST_F(Signing, KeysAreForTheirOwner) {
  works("test $(stat -c %a mine) = 600");
  works("umask 000; $A key new open && test $(stat -c %a open) = 600");
  const test::ProcessResult again = shell("cp mine before; $A key new mine");
  EXPECT_EQ(again.status, 2);
  EXPECT_EQ(again.errors.substr(0, 53), "attune: error: 'mine' exists, and keys are not overwr");
  works("cmp mine before");
}

// The signature is plain Ed25519 of the bytes before it, which others can verify.
TEST_F(Signing, OpenSslAgrees) {
  if (shell("openssl version").status != 0) GTEST_SKIP() << "there is no program openssl";
  works(
      "head -c -80 signed.attune > bytes; tail -c 72 signed.attune | head -c 64 > signature; "
      "openssl pkeyutl -verify -pubin -inkey mine.pub -rawin -in bytes -sigfile signature");
}

}  // namespace
}  // namespace attune
