#include "tuner/logs/knobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <set>

namespace attune::logs {
namespace {

constexpr std::string_view kOwn = "attune.";
constexpr std::string_view kAlgorithm = "attune.algorithm";
// AutoTVM's own split never exceeds an axis; a larger number is damage.
constexpr std::int64_t kLargest = std::int64_t{1} << 20;

std::optional<std::int64_t> number_of(const Value& value) {
  if (const auto* flag = value.as<bool>()) return *flag ? 1 : 0;
  const auto* number = value.as<std::int64_t>();
  if (!number || *number < 0 || *number > kLargest) return std::nullopt;
  return *number;
}

// Looks entities up by name and remembers which were of use.
class EntityReader {
 public:
  explicit EntityReader(const std::vector<Entity>& entities) : entities_(entities) {}

  // The innermost size of a split, or the number of another knob; of the first name that is there.
  std::optional<std::int64_t> inner(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
      if (const auto number = size(name, 0)) return number;
    }
    return std::nullopt;
  }
  // The size of a split that lies `out` loops outside of the innermost one; never the outermost.
  std::optional<std::int64_t> size(std::string_view name, std::size_t out) {
    const Entity* entity = find(name);
    if (!entity) return std::nullopt;
    if (entity->kind == EntityKind::Other) {
      return out == 0 ? used(name, number_of(entity->value)) : std::nullopt;
    }
    const auto& sizes = *entity->value.as<Value::List>();
    if (entity->kind != EntityKind::Split || sizes.size() < out + 2) return std::nullopt;
    const auto number = number_of(sizes[sizes.size() - 1 - out]);
    return number.value_or(0) < 1 ? std::nullopt : used(name, number);
  }
  // Whether the annotation at a place says "unroll".
  std::optional<std::int64_t> unrolled(std::string_view name, std::size_t place) {
    const Entity* entity = find(name);
    if (!entity || entity->kind != EntityKind::Annotate) return std::nullopt;
    const auto& words = *entity->value.as<Value::List>();
    if (place >= words.size()) return std::nullopt;
    const auto* word = words[place].as<std::string>();
    return used(name, word && *word == "unroll" ? 1 : 0);
  }
  // Knobs of ours, under their own names.
  space::Settings own() {
    space::Settings settings;
    for (const Entity& entity : entities_) {
      if (!entity.name.starts_with(kOwn)) continue;
      std::optional<space::Choice> choice;
      if (const auto number = number_of(entity.value)) choice = space::Choice{{*number}};
      if (const auto* text = entity.value.as<std::string>()) choice = space::parse_choice(*text);
      if (entity.name == kAlgorithm) used(entity.name, 0);
      if (!choice) continue;
      used(entity.name, 0);
      settings.emplace_back(entity.name.substr(kOwn.size()), std::move(*choice));
    }
    return settings;
  }
  std::vector<std::string> unused() const {
    std::vector<std::string> names;
    for (const Entity& entity : entities_) {
      if (!used_.contains(entity.name)) names.push_back(entity.name);
    }
    return names;
  }

 private:
  const Entity* find(std::string_view name) const {
    const auto found = std::find_if(entities_.begin(), entities_.end(),
                                    [&](const Entity& entity) { return entity.name == name; });
    return found == entities_.end() ? nullptr : &*found;
  }
  std::optional<std::int64_t> used(std::string_view name, std::optional<std::int64_t> number) {
    if (number) used_.emplace(name);
    return number;
  }

  const std::vector<Entity>& entities_;
  std::set<std::string, std::less<>> used_;
};

// Rows and columns of a register tile, columns counted in vectors; what is not known is left as the
// tile that results from the other one, which the nearest choice then completes.
void add_tile(space::Settings& settings, std::optional<std::int64_t> rows,
              std::optional<std::int64_t> columns, std::int64_t lanes) {
  if (!rows && !columns) return;
  const std::int64_t vectors = columns ? std::max<std::int64_t>(1, *columns / lanes) : 1;
  settings.push_back({"tile", {{rows.value_or(4), vectors}}});
}

void add(space::Settings& settings, const char* knob, std::optional<std::int64_t> number) {
  if (number) settings.push_back({knob, {{*number}}});
}

// Direct convolution: pixels x channels in registers, rows of pixels, and the unrolled kernel row.
void read_conv2d(EntityReader& read, space::Settings& settings, std::int64_t lanes) {
  add_tile(settings, read.inner({"tile_ow", "tile_w"}), read.inner({"tile_oc", "tile_co"}), lanes);
  add(settings, "tile_rows", read.inner({"tile_oh", "tile_h"}));
  auto unrolled = read.inner({"unroll_kw"});
  if (!unrolled) unrolled = read.unrolled("ann_reduce", 1);
  add(settings, "unroll_kw", unrolled);
}

void read_window(EntityReader& read, space::Settings& settings) {
  add(settings, "tile", read.inner({"tile_ow", "tile_w"}));
  add(settings, "tile_rows", read.inner({"tile_oh", "tile_h"}));
  add(settings, "unroll_kh", read.unrolled("ann_reduce", 0));
}

// Products: y are rows, x columns. Without packing the reduction is what lies in vectors, so that
// its split says nothing about unrolling.
void read_gemm(EntityReader& read, space::Settings& settings, std::string_view task,
               std::int64_t lanes) {
  add_tile(settings, read.inner({"tile_y"}), read.inner({"tile_x"}), lanes);
  const auto block = read.size("tile_y", 1);
  if (block && *block > 1) add(settings, "block", block);
  if (!task.starts_with("dense_nopack")) add(settings, "unroll", read.inner({"tile_k"}));
}

// Of the products of tiles: p are tiles, k output channels.
void read_winograd(EntityReader& read, space::Settings& settings, std::int64_t lanes) {
  add_tile(settings, read.inner({"tile_p", "tile_b"}), read.inner({"tile_k"}), lanes);
}

Entity split_entity(const char* name, std::int64_t inner) {
  return {name, EntityKind::Split, {Value::List{{std::int64_t{-1}}, {inner}}}};
}

Entity other_entity(std::string name, Value value) {
  return {std::move(name), EntityKind::Other, std::move(value)};
}

// The names of a template's register tile, rows and columns; null: it has none over there.
struct TileNames {
  std::string_view template_name;
  const char* rows;
  const char* columns;
};
constexpr TileNames kTileNames[] = {{"conv2d", "tile_ow", "tile_oc"},
                                    {"conv2d_transpose", "tile_ow", "tile_oc"},
                                    {"gemm", "tile_y", "tile_x"},
                                    {"winograd", "tile_p", "tile_k"},
                                    {"window", "tile_ow", nullptr}};

bool write_tile(std::vector<Entity>& entities, const space::Choice& choice,
                std::string_view template_name, std::int64_t lanes) {
  const auto* names =
      std::find_if(std::begin(kTileNames), std::end(kTileNames),
                   [&](const TileNames& each) { return each.template_name == template_name; });
  if (names == std::end(kTileNames)) return false;
  const std::size_t wanted = names->columns ? 2 : 1;
  if (choice.numbers.size() != wanted) return false;
  if (names->columns) entities.push_back(split_entity(names->columns, choice.numbers[1] * lanes));
  entities.push_back(split_entity(names->rows, choice.numbers[0]));
  return true;
}

// Whether a knob has a name over there under which it reads back as it is.
bool write_known(std::vector<Entity>& entities, const space::Knob& knob,
                 const space::Choice& choice, std::string_view template_name, std::int64_t lanes) {
  if (knob.name == "tile") return write_tile(entities, choice, template_name, lanes);
  if (choice.numbers.size() != 1) return false;
  const std::int64_t number = choice.numbers[0];
  if (template_name == "conv2d" && knob.name == "unroll_kw" && number <= 1) {
    entities.push_back(other_entity("unroll_kw", {number == 1}));
    return true;
  }
  const bool rows = template_name == "conv2d" || template_name == "window";
  if (rows && knob.name == "tile_rows") {
    entities.push_back(other_entity("tile_oh", {number}));
    return true;
  }
  if (template_name == "gemm" && knob.name == "unroll") {
    entities.push_back(split_entity("tile_k", number));
    return true;
  }
  return false;
}

}  // namespace

TranslatedKnobs translate_knobs(const std::vector<Entity>& entities, std::string_view task,
                                std::string_view template_name, std::int64_t lanes) {
  EntityReader read(entities);
  space::Settings settings;
  if (template_name == "conv2d" || template_name == "conv2d_transpose") {
    read_conv2d(read, settings, lanes);
  } else if (template_name == "window") {
    read_window(read, settings);
  } else if (template_name == "gemm") {
    read_gemm(read, settings, task, lanes);
  } else if (template_name == "winograd") {
    read_winograd(read, settings, lanes);
  }
  for (auto& own : read.own()) settings.push_back(std::move(own));
  return {std::move(settings), read.unused()};
}

std::string named_algorithm(const std::vector<Entity>& entities) {
  for (const Entity& entity : entities) {
    const auto* name = entity.value.as<std::string>();
    if (entity.name == kAlgorithm && name) return *name;
  }
  return {};
}

std::vector<Entity> entities_of(const std::vector<space::Knob>& knobs, const space::Config& config,
                                std::string_view template_name, const std::string& algorithm,
                                std::int64_t lanes) {
  std::vector<Entity> entities;
  if (algorithm != "direct") entities.push_back(other_entity(std::string(kAlgorithm), {algorithm}));
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    const space::Choice& choice = knobs[i].choices[config[i]];
    if (write_known(entities, knobs[i], choice, template_name, lanes)) continue;
    const bool single = choice.numbers.size() == 1 && choice.numbers[0] >= 0;
    Value value = single ? Value{choice.numbers[0]} : Value{space::to_string(choice)};
    entities.push_back(other_entity(std::string(kOwn) + knobs[i].name, std::move(value)));
  }
  return entities;
}

}  // namespace attune::logs
