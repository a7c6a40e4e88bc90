// A configuration: one choice per knob. Values is what a template sees of it, numbers by the name
// of the knob; it refers to the knobs (or settings) that it was made from and must not outlive
// them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tuner/space/knob.h"

namespace attune::space {

using Config = std::vector<std::uint32_t>;  // index of the choice, per knob
// Numbers by name that need not be among the choices of a knob: defaults, seeds.
using Settings = std::vector<std::pair<std::string, Choice>>;

class Values {
 public:
  Values(const std::vector<Knob>& knobs, const Config& config);
  explicit Values(const Settings& settings);

  // The number of a knob that has a single one.
  std::int64_t operator[](std::string_view name) const;
  std::span<const std::int64_t> numbers(std::string_view name) const;
  bool has(std::string_view name) const;

 private:
  struct Entry {
    std::string_view name;
    const std::vector<std::int64_t>* numbers;
  };
  const Entry* find(std::string_view name) const;

  static constexpr std::size_t kMaxKnobs = 24;
  std::array<Entry, kMaxKnobs> entries_;
  std::size_t size_ = 0;
};

// How many configurations there are; the knobs of a template must allow fewer than 2^62.
std::uint64_t config_count(const std::vector<Knob>& knobs);
// Mixed radix, the first knob varies slowest.
Config config_at(const std::vector<Knob>& knobs, std::uint64_t index);
std::uint64_t index_of(const std::vector<Knob>& knobs, const Config& config);

// "tile=6x16 pack=1"
std::string to_string(const std::vector<Knob>& knobs, const Config& config);
Result<Config> parse_config(const std::vector<Knob>& knobs, std::string_view text);
// The configuration nearest to the settings; knobs they do not name keep their first choice.
Config nearest_config(const std::vector<Knob>& knobs, const Settings& settings);

}  // namespace attune::space
