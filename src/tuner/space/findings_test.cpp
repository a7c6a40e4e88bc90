#include "tuner/space/findings.h"

#include <gtest/gtest.h>

#include <string>

#include "tuner/space/sample_template_testing.h"

namespace attune::space {
namespace {

class FindingsTest : public ::testing::Test {
 protected:
  // How many stages the program has.
  std::size_t count(Findings& findings, const ir::Program& program, int question = 0) {
    return *findings.of<std::size_t>(program, question, [&] {
      ++looked_;
      return program.stages.size();
    });
  }

  int looked_ = 0;
};

TEST_F(FindingsTest, LookOnceAtAProgram) {
  Findings findings;
  const ir::Program program = sample_program(8, 8, 8);
  const ir::Program copy = program;
  EXPECT_EQ(count(findings, program), program.stages.size());
  EXPECT_EQ(count(findings, copy), program.stages.size());
  EXPECT_EQ(looked_, 1);
}

TEST_F(FindingsTest, TellProgramsAndQuestionsApart) {
  Findings findings;
  count(findings, sample_program(8, 8, 8));
  count(findings, sample_program(8, 8, 4));
  EXPECT_EQ(looked_, 2);
  const ir::Program program = sample_program(8, 8, 8);
  count(findings, program, 1);
  count(findings, program, 2);
  count(findings, program, 1);
  EXPECT_EQ(looked_, 4);
}

// Two kinds of answers to the same question.
TEST_F(FindingsTest, TellAnswersApart) {
  Findings findings;
  const ir::Program program = sample_program(8, 8, 8);
  EXPECT_EQ(count(findings, program), program.stages.size());
  EXPECT_EQ(*findings.of<std::string>(program, 0, [&] { return program.name; }), program.name);
}

TEST_F(FindingsTest, BelongToTheirOwner) {
  Findings one, other;
  const ir::Program program = sample_program(8, 8, 8);
  count(one, program);
  count(other, program);
  EXPECT_EQ(looked_, 2);
}

// A template that looks at the program whenever it is asked something, and counts how often.
struct Looks {
  int count = 0;
};
std::vector<Knob> counted_knobs(const Subject& subject, const target::Target& target) {
  subject.findings.of<Looks>(subject.program, 0, [] { return Looks{1}; });
  return sample_knobs(subject.program, target);
}
std::optional<std::string> counted_reject(const Subject& subject, const target::Target&,
                                          const Values&) {
  // What the knobs found is still there.
  const auto looks = subject.findings.of<Looks>(subject.program, 0, [] { return Looks{2}; });
  return looks->count == 1 ? std::nullopt : std::optional<std::string>("looked again");
}

TEST_F(FindingsTest, OfASpaceLastAsLongAsItDoes) {
  Template counted = kSampleTemplate;
  counted.knobs = counted_knobs;
  counted.reject = counted_reject;
  const TemplateSpace space({{"direct", sample_program(64, 96, 64)}}, {&counted, 1},
                            sample_target());
  const auto scheduled = space.schedule_of(space.defaults().front());
  EXPECT_TRUE(scheduled.ok()) << scheduled.error().message;
}

}  // namespace
}  // namespace attune::space
