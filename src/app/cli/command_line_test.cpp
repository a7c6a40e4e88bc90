#include "app/cli/command_line.h"

#include <gtest/gtest.h>

namespace attune::cli {
namespace {

struct Values {
  std::string model, path = "default";
  std::vector<std::string> inputs;
  std::optional<std::int64_t> trials;
  std::optional<double> seconds;
  bool json = false;
};

class CommandLineTest : public ::testing::Test {
 protected:
  CommandLineTest() : line_("tune", "Tunes.") {
    line_.required("MODEL", values_.model, "an operator spec");
    line_.text("-o,--output", "PATH", values_.path, "a path");
    line_.texts("--input", "NAME=FILE", values_.inputs, "inputs");
    line_.number("--trials", "N", values_.trials, 1, 100, "a number");
    line_.real("--seconds", "S", values_.seconds, 0.5, 10, "a time");
    line_.flag("--json", values_.json, "print JSON");
    line_.example("tune x", "an example");
  }
  Result<Parsed> parse(const std::vector<std::string>& words) { return line_.parse(words); }
  std::string message(const std::vector<std::string>& words) {
    const Result<Parsed> parsed = parse(words);
    return parsed.ok() ? "no error" : parsed.error().message;
  }

  Values values_;
  CommandLine line_;
};

TEST_F(CommandLineTest, TakesValuesInAnyOrder) {
  ASSERT_TRUE(parse({"--json", "--trials", "7", "matmul:m=1", "--seconds=1.5", "-o", "x"}).ok());
  EXPECT_EQ(values_.model, "matmul:m=1");
  EXPECT_EQ(values_.path, "x");
  EXPECT_EQ(values_.trials, 7);
  EXPECT_EQ(values_.seconds, 1.5);
  EXPECT_TRUE(values_.json);
}

TEST_F(CommandLineTest, LeavesDefaultsAlone) {
  ASSERT_TRUE(parse({"m"}).ok());
  EXPECT_EQ(values_.path, "default");
  EXPECT_FALSE(values_.trials);
  EXPECT_FALSE(values_.json);
}

TEST_F(CommandLineTest, TheLastOfSeveralCounts) {
  ASSERT_TRUE(parse({"m", "--trials", "7", "--trials", "8"}).ok());
  EXPECT_EQ(values_.trials, 8);
}

TEST_F(CommandLineTest, CollectsWhatMayBeRepeated) {
  ASSERT_TRUE(parse({"m", "--input", "a=1", "--input", "b=2"}).ok());
  EXPECT_EQ(values_.inputs, (std::vector<std::string>{"a=1", "b=2"}));
}

TEST_F(CommandLineTest, SaysWhatIsWrong) {
  EXPECT_EQ(message({}), "'tune' needs an operator spec");
  EXPECT_EQ(message({"m", "n"}), "unexpected argument 'n' after 'tune'");
  EXPECT_EQ(message({"m", "--jsn"}), "'tune' has no option '--jsn'");
  EXPECT_EQ(message({"m", "--jsn=1"}), "'tune' has no option '--jsn'");
  EXPECT_EQ(message({"m", "--trials"}), "option --trials needs a value");
}

TEST_F(CommandLineTest, ChecksNumbers) {
  EXPECT_EQ(message({"m", "--trials", "x"}), "--trials is 'x', which is not a whole number");
  EXPECT_EQ(message({"m", "--trials", ""}), "--trials is '', which is not a whole number");
  EXPECT_EQ(message({"m", "--trials", "101"}), "--trials is 101, must be between 1 and 100");
  EXPECT_EQ(message({"m", "--trials", "-1"}), "--trials is -1, must be between 1 and 100");
  EXPECT_EQ(message({"m", "--seconds", "1s"}), "--seconds is '1s', which is not a number");
  EXPECT_EQ(message({"m", "--seconds", "inf"}), "--seconds is inf, must be between 0.5 and 10");
}

TEST_F(CommandLineTest, HelpComesBeforeComplaints) {
  const Result<Parsed> parsed = parse({"--help", "--nonsense"});
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(*parsed, Parsed::Help);
}

TEST_F(CommandLineTest, TheHelpPageNamesEverything) {
  EXPECT_EQ(line_.help(),
            "usage: attune tune MODEL [option]...\n"
            "\n"
            "Tunes.\n"
            "\n"
            "  MODEL                    an operator spec\n"
            "\n"
            "options:\n"
            "  -h, --help               print this page\n"
            "  -o, --output PATH        a path\n"
            "      --input NAME=FILE    inputs\n"
            "      --trials N           a number\n"
            "      --seconds S          a time\n"
            "      --json               print JSON\n"
            "\n"
            "examples:\n"
            "  attune tune x\n"
            "      an example\n");
}

}  // namespace
}  // namespace attune::cli
