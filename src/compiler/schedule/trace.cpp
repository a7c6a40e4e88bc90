#include "compiler/schedule/trace.h"

#include <fmt/format.h>

#include <charconv>

#include "base/hash.h"
#include "compiler/schedule/primitives.h"

namespace attune::schedule {
namespace {

constexpr std::string_view kGrammar = "write one step per line, like 'split output ow 4'";

struct TextWriter {
  std::string text;
  void operator()(const char*, const std::string& word) { text += " " + word; }
  void operator()(const char*, std::int64_t number) { text += fmt::format(" {}", number); }
  void operator()(const char*, const Names& words) {
    for (const std::string& word : words) text += " " + word;
  }
  void operator()(const char*, const Numbers& numbers) {
    for (std::int64_t number : numbers) text += fmt::format(" {}", number);
  }
};

// Reads fields in order from words; lists take all that is left.
struct TextReader {
  std::vector<std::string_view> words;
  std::size_t next = 0;
  std::string problem;

  std::string_view take(const char* field) {
    if (next < words.size()) return words[next++];
    if (problem.empty()) problem = fmt::format("its {} is missing", field);
    return {};
  }
  std::int64_t to_number(const char* field, std::string_view word) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if ((error != std::errc{} || end != word.data() + word.size()) && problem.empty()) {
      problem = fmt::format("its {} '{}' is not a number", field, word);
    }
    return value;
  }
  void operator()(const char* field, std::string& value) { value = take(field); }
  void operator()(const char* field, std::int64_t& value) { value = to_number(field, take(field)); }
  void operator()(const char*, Names& values) {
    while (next < words.size()) values.emplace_back(words[next++]);
  }
  void operator()(const char* field, Numbers& values) {
    while (next < words.size()) values.push_back(to_number(field, words[next++]));
  }
};

template <std::size_t I = 0>
std::optional<Step> step_named(std::string_view name) {
  if constexpr (I < std::variant_size_v<Step>) {
    using Alternative = std::variant_alternative_t<I, Step>;
    if (name == Alternative::kName) return Step(Alternative{});
    return step_named<I + 1>(name);
  } else {
    return std::nullopt;
  }
}

std::vector<std::string_view> split_words(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while ((at = line.find_first_not_of(" \t\r", at)) != std::string_view::npos) {
    const auto end = std::min(line.find_first_of(" \t\r", at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

Result<Step> read_step(std::vector<std::string_view> words) {
  auto step = step_named(words[0]);
  if (!step) return invalid(fmt::format("unknown step '{}'", words[0]), std::string(kGrammar));
  TextReader reader{std::move(words), 1, {}};
  std::visit([&](auto& s) { fields(s, reader); }, *step);
  if (reader.problem.empty() && reader.next < reader.words.size()) {
    reader.problem = fmt::format("'{}' is too much", reader.words[reader.next]);
  }
  if (!reader.problem.empty()) {
    return invalid(fmt::format("step '{}' does not parse: {}", reader.words[0], reader.problem),
                   std::string(kGrammar));
  }
  return std::move(*step);
}

Error at_line(const Error& error, std::size_t line) {
  return {error.code, fmt::format("line {} of the trace: {}", line, error.message), error.hint};
}

}  // namespace

std::string to_string(const Step& step) {
  return std::visit(
      [](auto s) {
        TextWriter writer{s.kName};
        fields(s, writer);
        return writer.text;
      },
      step);
}

std::string to_string(const Trace& trace) {
  std::string text;
  for (const Step& step : trace) text += to_string(step) + "\n";
  return text;
}

Result<Trace> parse_trace(std::string_view text) {
  Trace trace;
  std::size_t line_number = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto words = split_words(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line_number;
    if (words.empty() || words[0].starts_with('#')) continue;
    auto step = read_step(words);
    if (!step.ok()) return at_line(step.error(), line_number);
    trace.push_back(std::move(*step));
  }
  return trace;
}

std::uint64_t hash(const Trace& trace) { return hash_bytes(to_string(trace)); }

Status perform(State& state, const Step& step) {
  return std::visit([&](const auto& s) { return apply_step(state, s); }, step);
}

Result<State> replay(const ir::Program& program, const Trace& trace) {
  State state = initial_state(program);
  for (std::size_t i = 0; i < trace.size(); ++i) {
    if (const auto* algorithm = std::get_if<Algorithm>(&trace[i]); algorithm && i > 0) {
      return at_line(invalid(fmt::format("algorithm '{}' after other steps", algorithm->name),
                             "it is the first step of a trace"),
                     i + 1);
    }
    const Status status = perform(state, trace[i]);
    if (!status.ok()) return at_line(status.error(), i + 1);
  }
  return state;
}

}  // namespace attune::schedule
