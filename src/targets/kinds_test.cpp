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
  EXPECT_EQ(failure("cpu -mcpu="), "attribute 'mcpu' of the target has no value");
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

TEST(Kinds, TheFirstIsMeantWhereNobodyNamesOne) {
  EXPECT_EQ(&default_kind(), kinds().front());
  EXPECT_EQ(default_kind().name, target::kDefaultKind);
  EXPECT_EQ(default_kind().devices_here, nullptr) << "it runs on the cores of the machine";
  const target::Target here = this_machine().value();
  EXPECT_EQ(&kind_of(here), &default_kind());
  EXPECT_TRUE(default_kind().check_runs_here(here).ok());
}

TEST(Kinds, OfBlocksAndThreadsSayWhatTheyHaveNot) {
  for (const target::Kind* kind : kinds()) {
    const target::Target target = resolve(parse(kind->example).value()).value();
    const bool launched = target.launch.are_there();
    EXPECT_EQ(target.parallel_loops, !launched) << kind->name;
    EXPECT_EQ(target.fuses_chains, !launched) << kind->name;
    EXPECT_EQ(target.channel_block(2), target.lanes(launched ? 2 : 4)) << kind->name;
    EXPECT_FALSE(launched && kind->c_target != nullptr) << kind->name;
  }
}

// Records and the plan name the same target, whatever the model is written as.
TEST(Kinds, InCATargetIsCalledAsItWas) {
  for (const target::Kind* kind : kinds()) {
    if (kind->c_target == nullptr) continue;
    const target::Target target = resolve(parse(kind->example).value()).value();
    const target::Target in_c = kind->c_target(target);
    EXPECT_EQ(to_string(in_c), to_string(target)) << kind->name;
    EXPECT_EQ(in_c.masked_bytes, 0) << kind->name;
  }
}

TEST(Kinds, EveryKindReadsItsOwnExample) {
  for (const target::Kind* kind : kinds()) EXPECT_EQ(failure(kind->example), "parsed");
}

}  // namespace
}  // namespace attune::targets
