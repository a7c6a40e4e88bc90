#include "tuner/space/config.h"

#include <fmt/format.h>

namespace attune::space {
namespace {

constexpr std::uint64_t kMaxCount = std::uint64_t{1} << 62;

// The next word of `text`, which loses it.
std::string_view take_word(std::string_view& text) {
  const auto begin = std::min(text.find_first_not_of(' '), text.size());
  text.remove_prefix(begin);
  const auto end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

std::size_t find_choice(const Knob& knob, const Choice& choice) {
  std::size_t i = 0;
  while (i < knob.choices.size() && knob.choices[i] != choice) ++i;
  return i;
}

}  // namespace

Values::Values(const std::vector<Knob>& knobs, const Config& config) : size_(knobs.size()) {
  CHECK(knobs.size() == config.size() && knobs.size() <= kMaxKnobs, "one choice per knob");
  for (std::size_t i = 0; i < size_; ++i) {
    entries_[i] = {knobs[i].name, &knobs[i].choices[config[i]].numbers};
  }
}

Values::Values(const Settings& settings) : size_(settings.size()) {
  CHECK(settings.size() <= kMaxKnobs, "too many settings");
  for (std::size_t i = 0; i < size_; ++i) {
    entries_[i] = {settings[i].first, &settings[i].second.numbers};
  }
}

const Values::Entry* Values::find(std::string_view name) const {
  for (std::size_t i = 0; i < size_; ++i) {
    if (entries_[i].name == name) return &entries_[i];
  }
  return nullptr;
}

bool Values::has(std::string_view name) const { return find(name) != nullptr; }

std::span<const std::int64_t> Values::numbers(std::string_view name) const {
  const Entry* entry = find(name);
  CHECK(entry, "there is no knob '" + std::string(name) + "'");
  return *entry->numbers;
}

std::int64_t Values::operator[](std::string_view name) const {
  const auto all = numbers(name);
  CHECK(all.size() == 1, "knob '" + std::string(name) + "' has not one number");
  return all[0];
}

std::uint64_t config_count(const std::vector<Knob>& knobs) {
  std::uint64_t count = 1;
  for (const Knob& knob : knobs) {
    CHECK(!knob.choices.empty(), "knob '" + knob.name + "' has no choices");
    CHECK(count < kMaxCount / knob.choices.size(), "the knobs of a template allow too many points");
    count *= knob.choices.size();
  }
  return count;
}

Config config_at(const std::vector<Knob>& knobs, std::uint64_t index) {
  Config config(knobs.size());
  for (std::size_t i = knobs.size(); i-- > 0;) {
    const std::uint64_t radix = knobs[i].choices.size();
    config[i] = static_cast<std::uint32_t>(index % radix);
    index /= radix;
  }
  CHECK(index == 0, "index of a configuration out of range");
  return config;
}

std::uint64_t index_of(const std::vector<Knob>& knobs, const Config& config) {
  CHECK(knobs.size() == config.size(), "one choice per knob");
  std::uint64_t index = 0;
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    index = index * knobs[i].choices.size() + config[i];
  }
  return index;
}

std::string to_string(const std::vector<Knob>& knobs, const Config& config) {
  std::string text;
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    text +=
        fmt::format("{}{}={}", i ? " " : "", knobs[i].name, to_string(knobs[i].choices[config[i]]));
  }
  return text;
}

Result<Config> parse_config(const std::vector<Knob>& knobs, std::string_view text) {
  Config config;
  for (const Knob& knob : knobs) {
    const std::string_view word = take_word(text);
    const auto equals = word.find('=');
    if (equals == std::string_view::npos || word.substr(0, equals) != knob.name) {
      return invalid(
          fmt::format("the configuration has '{}' where knob '{}' is due", word, knob.name),
          "write one name=choice for each knob, in order");
    }
    const auto choice = parse_choice(word.substr(equals + 1));
    const std::size_t at = choice ? find_choice(knob, *choice) : knob.choices.size();
    if (at == knob.choices.size()) {
      return invalid(
          fmt::format("knob '{}' has no choice '{}'", knob.name, word.substr(equals + 1)),
          fmt::format("it has {} choices, the first is {}", knob.choices.size(),
                      to_string(knob.choices[0])));
    }
    config.push_back(static_cast<std::uint32_t>(at));
  }
  if (const std::string_view rest = take_word(text); !rest.empty()) {
    return invalid(fmt::format("the configuration has '{}' after its last knob", rest));
  }
  return config;
}

Config nearest_config(const std::vector<Knob>& knobs, const Settings& settings) {
  Config config(knobs.size(), 0);
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    for (const auto& [name, choice] : settings) {
      if (name == knobs[i].name) {
        config[i] = static_cast<std::uint32_t>(nearest_choice(knobs[i], choice));
      }
    }
  }
  return config;
}

}  // namespace attune::space
