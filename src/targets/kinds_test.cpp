#include "targets/kinds.h"

#include <gtest/gtest.h>

namespace attune::targets {
namespace {

std::string failure(std::string_view text) {
  const auto target = parse(text);
  return target.ok() ? "parsed" : target.error().message;
}

TEST(Kinds, AttributesPrintInTheOrderOfTheirKind) {
  const auto target = parse("cpu  -threads=3 -mcpu=znver3 -triple=x86_64-linux-gnu");
  ASSERT_TRUE(target.ok()) << target.error().message;
  EXPECT_EQ(to_string(*target), "cpu -triple=x86_64-linux-gnu -mcpu=znver3 -threads=3");
  EXPECT_EQ(to_string(parse(to_string(*target)).value()), to_string(*target));
}

TEST(Kinds, WrongTextsAreNamed) {
  EXPECT_EQ(failure(""), "unknown target kind ''");
  EXPECT_EQ(failure("tpu"), "unknown target kind 'tpu'");
  EXPECT_EQ(failure("cpu fast"), "'fast' is not a target attribute");
  EXPECT_EQ(failure("cpu -speed=9"), "unknown target attribute 'speed'");
  EXPECT_EQ(failure("cpu -mcpu=a -mcpu=b"), "attribute 'mcpu' of the target is given twice");
  EXPECT_EQ(failure("cpu -threads=0"), "thread count '0' of the target is not between 1 and 1024");
  EXPECT_EQ(failure("cpu -threads=2x"),
            "thread count '2x' of the target is not between 1 and 1024");
}

TEST(Kinds, WhatIsResolvedStaysAsItIs) {
  const target::Target resolved = resolve({}).value();
  EXPECT_GE(resolved.threads, 1);
  EXPECT_EQ(to_string(resolve(resolved).value()), to_string(resolved));
  EXPECT_TRUE(kind_of(resolved).check_runs_here(resolved).ok());
}

TEST(Kinds, EveryKindReadsItsOwnExample) {
  for (const target::Kind* kind : kinds()) EXPECT_EQ(failure(kind->example), "parsed");
}

}  // namespace
}  // namespace attune::targets
