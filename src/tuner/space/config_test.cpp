#include "tuner/space/config.h"

#include <gtest/gtest.h>

namespace attune::space {
namespace {

std::vector<Knob> knobs() {
  return {split_by("tile", {.extent = 6, .parts = 3}), choice_of("order", {0, 1, 2}),
          annotate_with("pack", {0, 1})};
}

TEST(Config, IndexAndConfigAreInverse) {
  const auto all = knobs();
  ASSERT_EQ(config_count(all), 9u * 3 * 2);
  for (std::uint64_t i = 0; i < config_count(all); ++i) {
    EXPECT_EQ(index_of(all, config_at(all, i)), i);
  }
}

TEST(Config, TextRoundTrips) {
  const auto all = knobs();
  EXPECT_EQ(to_string(all, config_at(all, 7)), "tile=1x2 order=0 pack=1");
  for (std::uint64_t i = 0; i < config_count(all); ++i) {
    const Config config = config_at(all, i);
    EXPECT_EQ(parse_config(all, to_string(all, config)).value(), config);
  }
}

TEST(Config, TextThatDoesNotFitIsRefused) {
  const auto all = knobs();
  EXPECT_EQ(parse_config(all, "tile=1x2 order=0").error().message,
            "the configuration has '' where knob 'pack' is due");
  EXPECT_EQ(parse_config(all, "tile=1x2 pack=0 order=0").error().message,
            "the configuration has 'pack=0' where knob 'order' is due");
  EXPECT_EQ(parse_config(all, "tile=5x1 order=0 pack=0").error().message,
            "knob 'tile' has no choice '5x1'");
  EXPECT_EQ(parse_config(all, "tile=1x2 order=0 pack=1 more=1").error().message,
            "the configuration has 'more=1' after its last knob");
}

TEST(Config, ValuesAreFoundByName) {
  const auto all = knobs();
  const Config config = parse_config(all, "tile=3x2 order=2 pack=1").value();
  const Values values(all, config);
  EXPECT_EQ(values["order"], 2);
  EXPECT_EQ(values["pack"], 1);
  EXPECT_EQ(values.numbers("tile")[0], 3);
  EXPECT_EQ(values.numbers("tile")[1], 2);
  EXPECT_FALSE(values.has("rows"));
  const Settings settings{{"rows", {{4}}}};
  EXPECT_EQ(Values(settings)["rows"], 4);
}

TEST(Config, SettingsTakeTheNearestChoice) {
  const auto all = knobs();
  const Config config = nearest_config(all, {{"tile", {{4, 2}}}, {"pack", {{1}}}});
  EXPECT_EQ(to_string(all, config), "tile=3x2 order=0 pack=1");
}

}  // namespace
}  // namespace attune::space
