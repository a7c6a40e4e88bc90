#include "compiler/frontend/op_spec/op_spec.h"

#include <algorithm>
#include <charconv>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "compiler/graph/tasks/tasks.h"
#include "compiler/ops/element_types.h"
#include "compiler/ops/forms/family.h"

namespace attune::op_spec {
namespace {

using Texts = std::map<std::string, std::string, std::less<>>;

Result<const ops::Family*> find_family(std::string_view name) {
  std::vector<std::string> names;
  for (const ops::Family& family : ops::families()) {
    if (family.name == name) return &family;
    names.push_back(family.name);
  }
  const std::string near = nearest(name, names);
  const std::string guess = near.empty() ? "" : fmt::format("did you mean '{}'? ", near);
  return invalid(fmt::format("unknown operator '{}'", name),
                 fmt::format("{}the operators are {}", guess, fmt::join(names, ", ")));
}

std::vector<ops::Key> keys_of(const ops::Family& family) {
  std::vector<ops::Key> keys = family.keys;
  std::vector<std::string> types;
  for (ir::DType type : ops::kAllTypes) types.push_back(ir::to_string(type));
  keys.push_back({"dtype", ops::KeyKind::Word, "f32", types});
  return keys;
}

// "its keys are m, n (1), k": defaults in brackets.
std::string describe_keys(const std::vector<ops::Key>& keys) {
  std::vector<std::string> names;
  for (const ops::Key& key : keys) {
    std::string fallback = key.fallback;
    if (fallback.starts_with('=')) fallback.erase(0, 1);
    names.push_back(fallback.empty() ? key.name : fmt::format("{} ({})", key.name, fallback));
  }
  return fmt::format("its keys are {}", fmt::join(names, ", "));
}

Result<Texts> split_pairs(std::string_view text) {
  Texts pairs;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view piece = text.substr(0, comma);
    const std::size_t equals = piece.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == piece.size()) {
      return invalid(fmt::format("'{}' is not of the form key=value", piece),
                     "write an operator as name:key=value,key=value");
    }
    const auto [at, inserted] = pairs.emplace(piece.substr(0, equals), piece.substr(equals + 1));
    if (!inserted) return invalid(fmt::format("key '{}' is given twice", at->first));
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
  }
  return pairs;
}

Result<std::int64_t> parse_number(const std::string& key, const std::string& text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range) {
    return invalid(fmt::format("{}={} is too large", key, text));
  }
  if (error != std::errc() || stop != end) {
    return invalid(fmt::format("{}={} is not a whole number", key, text));
  }
  return value;
}

Status check_keys(const ops::Family& family, const std::vector<ops::Key>& keys,
                  const Texts& given) {
  for (const auto& [name, value] : given) {
    const bool known = std::any_of(keys.begin(), keys.end(),
                                   [&](const ops::Key& key) { return key.name == name; });
    if (!known) {
      return invalid(fmt::format("{} has no key '{}'", family.name, name), describe_keys(keys));
    }
  }
  std::vector<std::string> missing;
  for (const ops::Key& key : keys) {
    if (key.fallback.empty() && !given.contains(key.name)) missing.push_back(key.name);
  }
  if (missing.empty()) return {};
  return invalid(fmt::format("{} needs {}, which {} missing", family.name, fmt::join(missing, ", "),
                             missing.size() == 1 ? "is" : "are"),
                 describe_keys(keys));
}

// The default of a key in text; one that depends on another key finds it among `numbers`.
std::string fallback_of(const ops::Key& key, const ops::Arguments& arguments) {
  if (!key.fallback.starts_with('=')) return key.fallback;
  const std::string_view rule = std::string_view(key.fallback).substr(1);
  if (rule.ends_with("/2")) {
    return std::to_string(arguments.number(rule.substr(0, rule.size() - 2)) / 2);
  }
  return std::to_string(arguments.number(rule));
}

struct Parsed {
  ops::Arguments arguments;
  std::string spec;  // canonical text
};

// Values for all keys, in the family's order, and the canonical text of those that are not
// defaults.
Result<Parsed> parse_values(const ops::Family& family, const std::vector<ops::Key>& keys,
                            const Texts& given) {
  Parsed parsed;
  parsed.spec = family.name;
  char separator = ':';
  for (const ops::Key& key : keys) {
    const auto found = given.find(key.name);
    const std::string fallback = fallback_of(key, parsed.arguments);
    std::string text = found == given.end() ? fallback : found->second;
    if (key.kind == ops::KeyKind::Number) {
      ATTUNE_ASSIGN(const std::int64_t value, parse_number(key.name, text));
      parsed.arguments.numbers[key.name] = value;
      text = std::to_string(value);
    } else {
      if (!key.words.empty() &&
          std::find(key.words.begin(), key.words.end(), text) == key.words.end()) {
        return invalid(fmt::format("{}={} is not known", key.name, text),
                       fmt::format("choose one of {}", fmt::join(key.words, ", ")));
      }
      parsed.arguments.words[key.name] = text;
    }
    if (text == fallback) continue;
    parsed.spec += fmt::format("{}{}={}", separator, key.name, text);
    separator = ',';
  }
  parsed.arguments.dtype = *ir::parse_dtype(parsed.arguments.word("dtype"));
  return parsed;
}

struct Read {
  const ops::Family* family;
  ops::Arguments arguments;
  OpFacts facts;
  ir::Program own;
};

// The family says whether the values have a meaning.
Result<Read> read(std::string_view text, const target::Target& resolved) {
  const std::size_t colon = text.find(':');
  ATTUNE_ASSIGN(const ops::Family* family, find_family(text.substr(0, colon)));
  const std::string_view rest =
      colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  ATTUNE_ASSIGN(const Texts given, split_pairs(rest));
  const std::vector<ops::Key> keys = keys_of(*family);
  ATTUNE_RETURN_IF_ERROR(check_keys(*family, keys, given));
  ATTUNE_ASSIGN(Parsed parsed, parse_values(*family, keys, given));
  const int bytes = parsed.arguments.dtype.bytes();
  parsed.arguments.block = resolved.channel_block(bytes == 2 ? 2 : 4);
  ATTUNE_ASSIGN(ops::Operator op, family->build(parsed.arguments));
  const auto algorithm = parsed.arguments.words.find("algo");
  OpFacts facts{
      .spec = std::move(parsed.spec),
      .family = family->name,
      .flops = op.flops,
      .tolerance = op.tolerance,
      .algorithm = algorithm == parsed.arguments.words.end() ? "auto" : algorithm->second};
  return Read{family, std::move(parsed.arguments), std::move(facts), std::move(op.program)};
}

// For tasks: they know which operands are constants, but not their contents. A single number
// becomes part of the program.
Result<ops::ConstantPtr> without_contents(std::string_view, const ops::TensorType& type, int) {
  if (type.elements() == 1) return ops::filled_constant(type, 1);
  return std::make_shared<const ops::Constant>(ops::Constant{type, {}, nullptr});
}

}  // namespace

Result<OpGraph> parse_op_graph(std::string_view text, const target::Target& resolved,
                               const MakeConstant& make_constant) {
  ATTUNE_ASSIGN(Read spec, read(text, resolved));
  ATTUNE_ASSIGN(graph::Graph graph, graph_of(*spec.family, spec.arguments, make_constant));
  return OpGraph{std::move(spec.facts), std::move(graph), std::move(spec.own)};
}

Result<OpTask> parse_op_spec(std::string_view text, const target::Target& resolved) {
  ATTUNE_ASSIGN(OpGraph op, parse_op_graph(text, resolved, without_contents));
  const std::vector<graph::Group> groups = graph::fuse(op.graph, graph::find_pieces(op.graph));
  CHECK(groups.size() == 1, fmt::format("{} is {} kernels", op.facts.spec, groups.size()));
  ATTUNE_ASSIGN(graph::Task made, graph::make_task(op.graph, groups.front()));
  OpTask task;
  static_cast<OpFacts&>(task) = std::move(op.facts);
  task.key = std::move(made.key);
  task.program = std::move(made.op.program);
  for (ops::AlgorithmDef& other : made.op.alternatives) {
    if (task.algorithm != "auto" && task.algorithm != other.name) continue;
    task.alternatives.push_back(std::move(other));
  }
  return task;
}

}  // namespace attune::op_spec
