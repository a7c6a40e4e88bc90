// Any legal trace leaves a program's meaning as it was: random steps on random programs, and random
// points of every template, lowered and run by the interpreter and as machine code, agree with the
// unscheduled program. Steps that are not legal answer with an error; nothing crashes.
//
// Each case runs in a child process and depends on its seed alone. ATTUNE_PROPERTY_TRACES says how
// many traces are compared (all of them compiled then), ATTUNE_PROPERTY_SEED where seeds begin.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "compiler/ir/text/print.h"
#include "compiler/lower/lower.h"
#include "targets/kinds.h"
#include "tests/support/isolated.h"
#include "tests/support/random/random_steps.h"
#include "tests/support/random/random_subject.h"
#include "tests/support/run_scheduled.h"
#include "tuner/space/template_space.h"
#include "tuner/templates/templates.h"

namespace attune::test {
namespace {

constexpr int kSecondsPerCase = 60;
constexpr int kMostFailures = 8;

std::int64_t setting(const char* name, std::int64_t fallback) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoll(text) : fallback;
}

// This machine's target, and one with vectors of 32 bytes where the machine can run that.
const std::vector<target::Target>& targets() {
  static const std::vector<target::Target> found = [] {
    target::Target own;
    own.threads = 2;
    std::vector<target::Target> list{targets::resolve(own).value()};
    target::Target narrow = own;
    narrow.set("mcpu", "haswell");
    const auto resolved = targets::resolve(narrow);
    if (resolved.ok() && list[0].vector_bytes > resolved->vector_bytes) list.push_back(*resolved);
    return list;
  }();
  return found;
}

struct Case {
  std::uint64_t seed = 0;
  bool compiled = false;
};

// What a child notes, line by line: "try STEP" before a step, "done" after it, "refused WHY" for a
// trace that cannot be lowered, "large" for one not worth the time, "agreed", or "wrong WHY".
struct Outcome {
  std::string subject, verdict;  // the verdict's first word
  std::string details;           // the rest of it
  schedule::Trace trace;         // the steps that were done, and the one that crashed
};

Outcome outcome_of(const IsolatedResult& result) {
  Outcome outcome;
  std::string_view text = result.notes;
  std::string pending, steps;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto space = std::min(line.find(' '), line.size());
    const std::string word = line.substr(0, space);
    const std::string rest = line.substr(std::min(space + 1, line.size()));
    if (word == "subject") {
      outcome.subject = rest;
    } else if (word == "try") {
      pending = rest;
    } else if (word == "done" || word == "illegal") {
      if (word == "done") steps += pending + "\n";
      pending.clear();
    } else if (outcome.verdict.empty()) {
      outcome.verdict = word;
      outcome.details = rest + "\n" + std::string(text);
      break;
    }
  }
  if (!result.failure.empty()) {
    outcome.verdict = "crashed";
    outcome.details = result.failure;
    steps += pending;
  }
  outcome.trace = schedule::parse_trace(steps).value();
  return outcome;
}

// Compares one scheduled program in all ways; notes the verdict.
void compare(const Note& note, const Subject& subject, const schedule::State& state,
             const schedule::Trace& trace, const Case& c, const target::Target& target) {
  const auto cost = cost_of(state);
  if (cost.ok() && (cost->iterations > 3e6 || cost->copies > 400)) return note("large\n");
  if (const auto lowered = lower::lower(state); !lowered.ok()) {
    return note("refused " + lowered.error().message + "\n");
  }
  const auto reference = make_reference(subject.reference, c.seed);
  if (!reference.ok()) return note("wrong reference: " + reference.error().message + "\n");
  for (const Way way : {Way::Interpreted, Way::Compiled}) {
    if (way == Way::Compiled && !c.compiled) continue;
    const Status status =
        check_trace(subject.program, trace, target, *reference, subject.tolerance, way);
    if (status.ok()) continue;
    return note(fmt::format("wrong {} on {}: {}\n",
                            way == Way::Compiled ? "compiled" : "interpreted",
                            target::to_string(target), status.error().message));
  }
  note("agreed\n");
}

// Tries the steps one after the other, leaving out those that are illegal, and compares the result.
void run_steps(const Note& note, const Subject& subject, const schedule::Trace& steps,
               const Case& c, const target::Target& target) {
  schedule::State state = schedule::initial_state(subject.program);
  schedule::Trace trace;
  for (const schedule::Step& step : steps) {
    note("try " + schedule::to_string(step) + "\n");
    schedule::State next = state;
    if (!schedule::perform(next, step).ok()) {
      note("illegal\n");
      continue;
    }
    note("done\n");
    state = std::move(next);
    trace.push_back(step);
  }
  compare(note, subject, state, trace, c, target);
}

// Drops steps one by one as long as the trace still fails.
Outcome shrink(const Subject& subject, Outcome failing, const Case& c,
               const target::Target& target) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (std::size_t i = failing.trace.size(); i-- > 0;) {
      schedule::Trace fewer = failing.trace;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      Outcome next = outcome_of(run_isolated(
          [&](const Note& note) { run_steps(note, subject, fewer, c, target); }, kSecondsPerCase));
      if (next.verdict != "crashed" && next.verdict != "wrong") continue;
      next.subject = failing.subject;
      failing = std::move(next);
      smaller = true;
    }
  }
  return failing;
}

std::string report(const Subject& subject, const Outcome& outcome, const Case& c) {
  return fmt::format("seed {}: {}\n{} {}\n{}trace:\n{}", c.seed, outcome.subject, outcome.verdict,
                     outcome.details, ir::to_string(subject.program),
                     schedule::to_string(outcome.trace));
}

// What a case is about, from its seed alone.
struct Setup {
  target::Target target;
  Subject subject;
};
Setup setup_of(Rng& rng) {
  const target::Target target = targets()[rng.below(targets().size())];
  return {target, random_subject(rng, target)};
}

void run_random_steps(const Note& note, const Case& c) {
  Rng rng(c.seed);
  const Setup setup = setup_of(rng);
  note("subject " + setup.subject.name + "\n");
  schedule::State state = schedule::initial_state(setup.subject.program);
  schedule::Trace trace;
  const auto wanted = static_cast<std::size_t>(rng.between(1, 24));
  for (int tries = 0; tries < 120 && trace.size() < wanted; ++tries) {
    const schedule::Step step = random_step(rng, state);
    note("try " + schedule::to_string(step) + "\n");
    schedule::State next = state;
    if (!schedule::perform(next, step).ok()) {
      note("illegal\n");
      continue;
    }
    if (!cost_of(next).ok()) {  // no bounds: lowering must refuse it, and the next step comes first
      if (lower::lower(next).ok()) return note("wrong lowered without bounds\n");
      note("illegal\n");
      continue;
    }
    note("done\n");
    state = std::move(next);
    trace.push_back(step);
  }
  compare(note, setup.subject, state, trace, c, setup.target);
}

void run_random_point(const Note& note, const Case& c) {
  Rng rng(c.seed);
  const Setup setup = setup_of(rng);
  const space::TemplateSpace space({{"direct", setup.subject.program}}, templates::all(),
                                   setup.target);
  const space::Point point = rng.chance(0.2) ? space.defaults()[0] : space.sample(rng);
  note(fmt::format("subject {} {}\n", setup.subject.name, space.to_string(point)));
  const schedule::Trace trace = space.trace_of(point);
  for (const schedule::Step& step : trace) note("try " + to_string(step) + "\ndone\n");
  const auto state = schedule::replay(setup.subject.program, trace);
  if (!state.ok()) return note("wrong template: " + state.error().message + "\n");
  compare(note, setup.subject, *state, trace, c, setup.target);
}

// Runs cases until `wanted` traces agreed; failures are shrunk and reported.
void run_cases(std::int64_t wanted, bool compile_all, void (*run)(const Note&, const Case&)) {
  const auto first = static_cast<std::uint64_t>(setting("ATTUNE_PROPERTY_SEED", 1));
  std::map<std::string, std::int64_t> counts;
  std::map<std::string, std::int64_t> reasons;
  int failures = 0;
  std::uint64_t seed = first;
  for (; counts["agreed"] < wanted && failures < kMostFailures; ++seed) {
    const Case c{seed, compile_all || seed % 4 == 0};
    const Outcome outcome =
        outcome_of(run_isolated([&](const Note& note) { run(note, c); }, kSecondsPerCase));
    ++counts[outcome.verdict];
    if (outcome.verdict == "refused") ++reasons[outcome.details.substr(0, 40)];
    if (outcome.verdict != "crashed" && outcome.verdict != "wrong") {
      ASSERT_NE(outcome.verdict, "") << "seed " << seed << " ended without a verdict";
      if (wanted == 1) break;  // a reproduction
      continue;
    }
    ++failures;
    Rng rng(seed);
    const Setup setup = setup_of(rng);
    ADD_FAILURE() << report(setup.subject, shrink(setup.subject, outcome, c, setup.target), c);
  }
  fmt::print("{} cases from seed {}:", seed - first, first);
  for (const auto& [verdict, count] : counts) fmt::print(" {} {}", count, verdict);
  fmt::print("\n");
  for (const auto& [reason, count] : reasons) fmt::print("  refused {}: {}\n", count, reason);
}

TEST(Traces, RandomStepsKeepTheMeaning) {
  const std::int64_t wanted = setting("ATTUNE_PROPERTY_TRACES", 0);
  run_cases(wanted > 0 ? wanted : 1000, wanted > 0, run_random_steps);
}

TEST(Traces, RandomPointsOfTemplatesKeepTheMeaning) {
  const std::int64_t wanted = setting("ATTUNE_PROPERTY_TRACES", 0);
  run_cases(wanted > 0 ? (wanted + 4) / 5 : 250, wanted > 0, run_random_point);
}

}  // namespace
}  // namespace attune::test
