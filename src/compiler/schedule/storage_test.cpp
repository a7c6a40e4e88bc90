#include <gtest/gtest.h>

#include "compiler/schedule/schedule_testing.h"

namespace attune::schedule {
namespace {

std::string failure(std::string_view trace) {
  const auto state = schedule_text(kProduct, trace);
  return state.ok() ? "done" : error_of(state.error());
}

TEST(SetScope, KnowsItsScopes) {
  const auto state = schedule_text(kProduct, "set_scope anchor register\nset_scope bias stack");
  ASSERT_TRUE(state.ok());
  EXPECT_EQ(state->stages[0]->scope, ir::Scope::Register);
  EXPECT_EQ(state->stages[1]->scope, ir::Scope::Stack);
  EXPECT_EQ(failure("set_scope anchor global"), "done");
  EXPECT_EQ(failure("set_scope anchor heap"),
            "line 1 of the trace: unknown memory scope 'heap' for stage 'anchor' / scopes are "
            "global, stack, register, shared");
  EXPECT_EQ(failure("set_scope output stack"),
            "line 1 of the trace: stage 'output' is an output; its scope is fixed by the operator "
            "/ use it on private stages");
}

TEST(Layout, TermsChain) {
  const auto state = schedule_text(kProduct, "layout anchor j/8 i j/2%4 j%2");
  ASSERT_TRUE(state.ok()) << state.error().message;
  const auto& terms = state->stages[0]->layout;
  ASSERT_EQ(terms.size(), 4u);
  EXPECT_EQ(terms[0].axis, 1);
  EXPECT_EQ(terms[0].divide, 8);
  EXPECT_EQ(terms[2].divide, 2);
  EXPECT_EQ(terms[2].modulo, 4);
  EXPECT_EQ(failure("layout anchor j i"), "done");
  EXPECT_EQ(failure("layout anchor j/1 i j%1"), "done");
}

TEST(Layout, SaysWhatIsWrong) {
  const std::string hint = " / its terms must chain, like i/16 i%16";
  EXPECT_EQ(
      failure("layout anchor i"),
      "line 1 of the trace: the layout of stage 'anchor' does not store axis 'j' once" + hint);
  EXPECT_EQ(
      failure("layout anchor i j%8"),
      "line 1 of the trace: the layout of stage 'anchor' does not store axis 'j' once" + hint);
  EXPECT_EQ(
      failure("layout anchor i j/4 j%8"),
      "line 1 of the trace: the layout of stage 'anchor' does not store axis 'j' once" + hint);
  EXPECT_EQ(failure("layout anchor i j j"),
            "line 1 of the trace: the layout of stage 'anchor' stores an axis twice" + hint);
  EXPECT_EQ(failure("layout anchor i j j/3"),
            "line 1 of the trace: the layout of stage 'anchor' stores an axis twice" + hint);
  EXPECT_EQ(failure("layout anchor i j/0 j%8"),
            "line 1 of the trace: 'j/0' is not a layout term of stage 'anchor' / write AXIS, "
            "AXIS/D, AXIS%M or AXIS/D%M");
  EXPECT_EQ(failure("layout anchor i k"),
            "line 1 of the trace: 'k' is not a layout term of stage 'anchor' / write AXIS, "
            "AXIS/D, AXIS%M or AXIS/D%M");
  EXPECT_EQ(failure("layout output j i"),
            "line 1 of the trace: stage 'output' is an output; its layout is fixed by the operator "
            "/ use it on private stages");
}

TEST(StorageGap, IsANumberOfElements) {
  const auto state = schedule_text(kProduct, "storage_gap anchor 8");
  ASSERT_TRUE(state.ok()) << state.error().message;
  EXPECT_EQ(state->stages[0]->gap, 8);
  EXPECT_EQ(failure("storage_gap anchor 0"),
            "line 1 of the trace: stage 'anchor' cannot have gaps of 0 elements in its memory / "
            "choose a number between 1 and 1048576");
}

}  // namespace
}  // namespace attune::schedule
