#include "tuner/session/stage_kinds.h"

#include <gtest/gtest.h>

#include <set>

namespace attune::session {
namespace {

TEST(StageKinds, BeginWithThoseOfASession) {
  EXPECT_EQ(name_of(StageKind::Init), "init");
  EXPECT_EQ(name_of(StageKind::Select), "select");
  EXPECT_EQ(name_of(StageKind::Build), "build");
  EXPECT_EQ(name_of(StageKind::Profile), "profile");
  EXPECT_EQ(name_of(StageKind::Update), "update");
  EXPECT_EQ(name_of(StageKind::Confirm), "confirm");
  EXPECT_EQ(resource_of({StageKind::Build, 0}), Resource::HostCores);
  EXPECT_EQ(resource_of({StageKind::Profile, 0}), Resource::Device);
  EXPECT_EQ(resource_of({StageKind::Confirm, 0}), Resource::Device);
}

TEST(StageKinds, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const StageKindInfo& kind : stage_kinds()) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
    EXPECT_EQ(find_stage_kind(kind.name), &kind);
    EXPECT_GT(kind.usual_seconds, 0) << kind.name;
  }
  EXPECT_EQ(find_stage_kind("knitting"), nullptr);
}

// On the device only what measures runs, and it measures nowhere else.
TEST(StageKinds, MeasureOnTheDevice) {
  for (const StageKindInfo& kind : stage_kinds()) {
    EXPECT_EQ(kind.workload == Workload::Measuring, kind.resource == Resource::Device) << kind.name;
  }
}

}  // namespace
}  // namespace attune::session
