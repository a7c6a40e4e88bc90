#include "compiler/model/schedules/known_rule.h"

#include <gtest/gtest.h>

namespace attune::model {
namespace {

Schedule schedule_of(const std::string& trace, Origin origin) {
  return {.trace = schedule::parse_trace(trace).value(), .origin = origin};
}

// Sources that count how often a default is asked for.
class KnownRule : public testing::Test {
 protected:
  Schedule choose() {
    return known_rule({record_,
                       [&](const Schedule& instead) {
                         asked_instead_of_ = instead.origin;
                         return shipped_;
                       },
                       [&] {
                         ++defaults_;
                         return default_;
                       }});
  }

  const Schedule default_ = schedule_of("unroll output m\n", Origin::Default);
  std::optional<Schedule> record_, shipped_;
  std::optional<Origin> asked_instead_of_;
  int defaults_ = 0;
};

TEST_F(KnownRule, ARecordWinsWithoutADefault) {
  record_ = schedule_of("vectorize output n\n", Origin::Record);
  EXPECT_EQ(choose().origin, Origin::Record);
  EXPECT_EQ(asked_instead_of_, Origin::Record);
  EXPECT_EQ(defaults_, 0) << "nothing ships that could come before it";
}

TEST_F(KnownRule, ARecordOfAnotherScheduleThanTheDefaultKeepsWhatShipsAway) {
  record_ = schedule_of("vectorize output n\n", Origin::Record);
  shipped_ = schedule_of("fuse output m n\n", Origin::Shipped);
  EXPECT_EQ(choose().origin, Origin::Record);
  record_->trace = default_.trace;
  EXPECT_EQ(choose().origin, Origin::Shipped);
}

TEST_F(KnownRule, WithoutARecordWhatShipsComesBeforeTheDefault) {
  EXPECT_EQ(choose().origin, Origin::Default);
  EXPECT_EQ(asked_instead_of_, Origin::Default);
  shipped_ = schedule_of("fuse output m n\n", Origin::Shipped);
  EXPECT_EQ(choose().origin, Origin::Shipped);
}

}  // namespace
}  // namespace attune::model
