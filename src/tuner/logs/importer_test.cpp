#include "tuner/logs/importer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/ir/text/parse.h"
#include "compiler/ir/text/print.h"
#include "tuner/logs/adapt.h"
#include "tuner/logs/exporter.h"
#include "tuner/logs/knobs.h"
#include "tuner/logs/sample_lines_testing.h"
#include "tuner/templates/fused_testing.h"
#include "tuner/templates/templates.h"

namespace attune::logs {
namespace {

target::Target target() {
  target::Target target;
  target.set("triple", "x86_64-linux-gnu");
  target.set("mcpu", "skylake-avx512");
  target.threads = 2;
  target.vector_bytes = 64;
  target.vector_registers = 32;
  return target;
}

ImportReport report_of(const std::vector<std::string>& lines,
                       std::vector<records::Hint>* hints = nullptr) {
  Importer importer(target(), "autotvm test.log", 1700000000000);
  for (const std::string& line : lines) importer.take(line);
  if (hints) *hints = importer.hints();
  return importer.report();
}

TEST(Importer, CountsEverything) {
  std::vector<records::Hint> hints;
  const ImportReport report = report_of(
      {"# a comment", conv2d_line(), old_version_line(), auto_scheduler_line(), dense_line(),
       dense_line("[[1000000000.0], 6, 10.0, 1.5e9]"), depthwise_line(), "{\"input\": [",
       batch_matmul_line(), "", line_of("llvm", "conv3d_ncdhw.x86", "[]", "[]")},
      &hints);
  EXPECT_EQ(report.lines, 11);
  EXPECT_EQ(report.comments, 2);
  EXPECT_EQ(report.old_version, 1);
  EXPECT_EQ(report.auto_scheduler, 1);
  EXPECT_EQ(report.records, 6);
  EXPECT_EQ(report.failed, 1);
  EXPECT_EQ(report.with_task, 5);
  EXPECT_EQ(report.mapped, 3);
  EXPECT_EQ(report.tasks.size(), 4u);
  EXPECT_EQ(report.unmapped, (Counts{{"a schedule for cuda has no counterpart on a CPU", 1},
                                     {"it failed: build timed out", 1},
                                     {"operator conv3d_ncdhw.x86 is not supported", 1}}));
  EXPECT_EQ(report.ignored_knobs, (Counts{{"tile_ic", 1}}));
  ASSERT_EQ(report.problems.size(), 1u);
  EXPECT_EQ(report.problems[0].line, 8u);
  EXPECT_GT(report.problems[0].column, 1u);
  EXPECT_EQ(hints.size(), 3u);
}

TEST(Importer, MapsKnobs) {
  std::vector<records::Hint> hints;
  report_of({conv2d_line()}, &hints);
  ASSERT_EQ(hints.size(), 1u);
  const records::Hint& hint = hints[0];
  EXPECT_EQ(hint.task_name, "conv2d:h=56,w=56,ic=64,oc=64,kh=3,kw=3,pad=1");
  EXPECT_EQ(hint.foreign_target, "llvm -mcpu=skylake-avx512");
  EXPECT_EQ(hint.source, "autotvm test.log");
  EXPECT_DOUBLE_EQ(hint.time_us, 200);
  // 14 pixels by 32 channels, two vectors of this target, and the kernel row written out.
  EXPECT_NE(hint.trace.find("split output ow 14\n"), std::string::npos) << hint.trace;
  EXPECT_NE(hint.trace.find("split output oc 2\n"), std::string::npos) << hint.trace;
  EXPECT_NE(hint.trace.find("unroll rf.anchor kw\n"), std::string::npos) << hint.trace;
}

TEST(Importer, KeepsTheLowestTimeOfASchedule) {
  std::vector<records::Hint> hints;
  const ImportReport report =
      report_of({dense_line("[[0.5], 0, 1, 2]"), dense_line("[[0.1, 0.3], 0, 1, 2]"),
                 dense_line("[[0.4], 0, 1, 2]")},
                &hints);
  EXPECT_EQ(report.mapped, 3);
  ASSERT_EQ(hints.size(), 1u);
  EXPECT_DOUBLE_EQ(hints[0].time_us, 0.2e6);
}

TEST(Importer, SaysWhyKnobsDoNotMap) {
  const std::string arguments = R"([["TENSOR", [8, 8], "float32"], ["TENSOR", [8, 8], "float32"]])";
  const ImportReport report = report_of(
      {line_of("llvm", "dense_pack.x86", arguments, "[]"),
       line_of("llvm", "dense_pack.x86", arguments, R"([["vthread", "ot", 4]])"),
       line_of("llvm", "dense_pack.x86", arguments, R"([["attune.algorithm", "ot", "magic"]])")});
  EXPECT_EQ(report.unmapped, (Counts{{"algorithm magic does not fit its task", 1},
                                     {"it has no knobs", 1},
                                     {"none of its knobs is known: vthread", 1}}));
}

TEST(Importer, WinogradIsAnAlgorithm) {
  std::vector<records::Hint> hints;
  report_of(
      {line_of("llvm -device=arm_cpu", "conv2d_nchw_winograd.arm_cpu",
               R"([["TENSOR", [1, 64, 56, 56], "float32"],)"
               R"( ["TENSOR", [64, 64, 3, 3], "float32"], [1, 1], [1, 1], [1, 1], "float32"])",
               R"([["tile_p", "sp", [49, 4]], ["tile_k", "sp", [4, 16]]])")},
      &hints);
  ASSERT_EQ(hints.size(), 1u);
  EXPECT_EQ(hints[0].trace.rfind("algorithm winograd4", 0), 0u) << hints[0].trace;
}

TEST(Importer, SurvivesMutations) {
  Rng rng(11);
  const std::vector<std::string> lines = sample_lines();
  Importer importer(target(), "autotvm test.log", 0);
  constexpr int kLines = 3000;
  for (int i = 0; i < kLines; ++i) importer.take(mutated(lines[rng.below(lines.size())], rng));
  const ImportReport& report = importer.report();
  std::int64_t unmapped = 0;
  for (const auto& [reason, count] : report.unmapped) unmapped += count;
  EXPECT_EQ(report.lines, kLines);
  EXPECT_EQ(report.records, report.mapped + unmapped);
  EXPECT_EQ(report.lines, report.records + report.comments + report.old_version +
                              report.auto_scheduler +
                              static_cast<std::int64_t>(report.problems.size()));
}

records::Record record_of(const std::string& spec, const schedule::Trace& trace,
                          outcome::Outcome outcome) {
  const auto task = op_spec::parse_op_spec(spec, target());
  EXPECT_TRUE(task.ok()) << spec;
  records::Record record;
  record.task_key = task->key;
  record.task_name = task->spec;
  record.target = target::to_string(target());
  record.trace = schedule::to_string(trace);
  record.trace_hash = schedule::hash(trace);
  record.outcome = std::move(outcome);
  record.created_at_ms = 1700000000000;
  return record;
}

outcome::Outcome timing(double us) {
  outcome::Timing timing;
  timing.best_us = us;
  return timing;
}

// Any schedule of a template comes back from a log as it was.
TEST(Exporter, RoundTrips) {
  Rng rng(3);
  Exporter exporter("1.2.3");
  for (const char* spec :
       {"conv2d:h=14,w=14,ic=32,oc=64,kh=3,kw=3,pad=1",
        "conv2d:h=28,w=28,ic=3,oc=32,kh=7,kw=5,"
        "stride=2,stride_w=1,pad=3,pad_w=2,pad_right=1,dilation=2",
        "conv2d:h=8,w=8,ic=32,oc=32,kh=3,kw=3,groups=2", "depthwise:h=14,w=14,c=32,k=3,pad=0",
        "dense:m=64,n=96,k=600", "matmul:m=64,n=96,k=64", "batch_matmul:b=3,m=16,n=32,k=64",
        "conv2d_transpose:h=7,w=7,ic=32,oc=32,kh=4,kw=4,stride=2,pad=1,output_pad=1",
        "conv2d:h=14,w=14,ic=16,oc=16,kh=1,kw=1,dtype=i8"}) {
    auto task = op_spec::parse_op_spec(spec, target());
    ASSERT_TRUE(task.ok()) << spec;
    std::vector<std::string> algorithms{"direct"};
    for (const auto& other : task->alternatives) algorithms.push_back(other.name);
    MappedTask mapped(std::move(*task), target());
    for (const std::string& name : algorithms) {
      const AlgorithmSpace* algorithm = mapped.algorithm(name);
      ASSERT_TRUE(algorithm);
      for (int sound = 0, tries = 0; sound < 4 && tries < 200; ++tries) {
        const space::Point point = algorithm->space->sample(rng);
        if (!algorithm->space->schedule_of(point).ok()) continue;
        ++sound;
        const records::Record record =
            record_of(spec, algorithm->space->trace_of(point), timing(12.5));
        const auto line = exporter.line_of(record, target());
        const auto* refused = std::get_if<Unmapped>(&line);
        ASSERT_FALSE(refused) << spec << ": " << refused->reason;
        std::vector<records::Hint> hints;
        report_of({std::get<std::string>(line)}, &hints);
        ASSERT_EQ(hints.size(), 1u) << std::get<std::string>(line);
        EXPECT_EQ(hints[0].task_name, record.task_name);
        EXPECT_EQ(hints[0].task_key, record.task_key);
        EXPECT_EQ(hints[0].trace, record.trace) << std::get<std::string>(line);
        EXPECT_NEAR(hints[0].time_us, 12.5, 1e-9);
      }
    }
  }
}

records::TaskDefinition fused_definition(const std::string& spec) {
  const auto task = op_spec::parse_op_spec(spec, target());
  EXPECT_TRUE(task.ok()) << spec;
  records::TaskDefinition fused{"fused", "a model's task", 1, {}};
  const auto add = [&](const std::string& name, const ir::Program& program) {
    fused.programs.push_back({name, ir::to_string(templates::with_epilogue(program, {})), 0});
  };
  add("direct", task->program);
  for (const ops::AlgorithmDef& other : task->alternatives) add(other.name, other.program);
  return fused;
}

// A fused task is written as its anchor; read back, its schedule is that of the fused task again.
TEST(Exporter, FusedTasksAreWrittenAsTheirAnchors) {
  Rng rng(5);
  for (const char* spec :
       {"conv2d:h=14,w=14,ic=32,oc=64,kh=3,kw=3,pad=1",
        "conv2d:h=28,w=30,ic=3,oc=32,kh=7,kw=5,stride=2,stride_w=1,pad=3,pad_w=2,pad_right=1",
        "conv2d:h=8,w=8,ic=32,oc=64,kh=3,kw=3,groups=2", "conv2d:h=8,w=8,ic=20,oc=24,kh=1,kw=1",
        "depthwise:h=14,w=14,c=32,k=3,stride=2", "dense:m=64,n=96,k=600", "matmul:m=64,n=96,k=64",
        "batch_matmul:b=3,m=16,n=32,k=64",
        "conv2d_transpose:h=7,w=7,ic=32,oc=32,kh=4,kw=4,stride=2,pad=1"}) {
    SCOPED_TRACE(spec);
    const records::TaskDefinition fused = fused_definition(spec);
    Exporter exporter("1.2.3", [&](const std::string&) { return std::optional(fused); });
    const auto program = ir::parse_program(fused.programs[0].text);
    ASSERT_TRUE(program.ok()) << program.error().message;
    const space::NamedProgram direct{"direct", *program};
    const space::TemplateSpace space({direct}, templates::all(), target());
    records::Record record = record_of(spec, {}, timing(12.5));
    record.task_key = "fused";
    record.task_name = "conv2d+add+relu 1x64x14x14";
    for (int sound = 0, tries = 0; sound < 3 && tries < 200; ++tries) {
      const space::Point point = space.sample(rng);
      if (!space.schedule_of(point).ok()) continue;
      ++sound;
      record.trace = schedule::to_string(space.trace_of(point));
      const auto line = exporter.line_of(record, target());
      const auto* refused = std::get_if<Unmapped>(&line);
      ASSERT_FALSE(refused) << refused->reason;
      std::vector<records::Hint> hints;
      report_of({std::get<std::string>(line)}, &hints);
      ASSERT_EQ(hints.size(), 1u) << std::get<std::string>(line);
      EXPECT_EQ(hints[0].task_name, op_spec::parse_op_spec(spec, target())->spec);
      EXPECT_EQ(hints[0].anchor_key, anchor_key(*program));
      const auto adapted = adapt_hints(hints, {&direct, 1}, target());
      ASSERT_EQ(adapted.size(), 1u);
      EXPECT_EQ(schedule::to_string(adapted[0]), record.trace) << std::get<std::string>(line);
    }
  }
}

TEST(Exporter, SaysWhichTasksOfModelsHaveNoAnchor) {
  const auto refusal = [](const std::optional<records::TaskDefinition>& definition) {
    Exporter exporter("1.2.3", [&](const std::string&) { return definition; });
    records::Record record = record_of("dense:m=8,n=8,k=8", {}, timing(1));
    record.task_key = "fused";
    record.task_name = "a model's task";
    const auto line = exporter.line_of(record, target());
    const auto* refused = std::get_if<Unmapped>(&line);
    return refused ? refused->reason : "";
  };
  const auto defined = [](const std::string& text) {
    return records::TaskDefinition{"fused", "a model's task", 1, {{"direct", text, 0}}};
  };
  EXPECT_EQ(refusal(std::nullopt), "what its task computes is not known");
  EXPECT_EQ(refusal(defined("program {")), "its task is defined differently in this version");
  EXPECT_EQ(refusal(fused_definition("maxpool:h=8,w=8,c=16,k=2,stride=2,pad=0")),
            "AutoTVM has no task for maxpool");
  EXPECT_EQ(refusal(fused_definition("softmax:m=8,n=8")), "AutoTVM has no task for softmax");
  // The anchor reads something else than an operator alone would.
  const auto task = op_spec::parse_op_spec("conv2d:h=8,w=8,ic=16,oc=16,kh=3,kw=3,pad=1", target());
  EXPECT_EQ(refusal(defined(ir::to_string(templates::with_prologue(task->program)))),
            "the conv2d that it is built around is none by itself");
  // Sizes that no layer has.
  EXPECT_EQ(refusal(defined(R"(program conv2d {
  input data: f32[1, 1, 8, 8, 16]
  constant weight: f32[2097152, 1, 3, 3]
  stage anchor(n: 1) = sum(kh: 1) data[0, 0, n, kh, 0]
  output anchor
})")),
            "AutoTVM has no task for conv2d");
}

TEST(Exporter, FailuresHaveErrorNumbers) {
  Exporter exporter("1.2.3");
  auto task = op_spec::parse_op_spec("dense:m=8,n=32,k=16", target());
  MappedTask mapped(std::move(*task), target());
  const AlgorithmSpace& direct = *mapped.algorithm("direct");
  const schedule::Trace trace = direct.space->trace_of(direct.space->defaults()[0]);
  const auto error = [&](outcome::Outcome outcome) {
    const auto line =
        exporter.line_of(record_of("dense:m=8,n=32,k=16", trace, std::move(outcome)), target());
    if (const auto* refused = std::get_if<Unmapped>(&line)) return refused->reason;
    const LogLine parsed = parse_log_line(std::get<std::string>(line));
    return std::to_string(std::get<LogRecord>(parsed).error);
  };
  EXPECT_EQ(error(timing(1)), "0");
  EXPECT_EQ(error(outcome::BuildFailed{outcome::Phase::Build, "no"}), "2");
  EXPECT_EQ(error(outcome::RunCrashed{outcome::Phase::Run, 11, "no"}), "4");
  EXPECT_EQ(error(outcome::WrongAnswer{outcome::Phase::Verify, 1, "no"}), "5");
  EXPECT_EQ(error(outcome::TimedOut{outcome::Phase::Build, 1, "no"}), "6");
  EXPECT_EQ(error(outcome::TimedOut{outcome::Phase::Run, 1, "no"}), "7");
  EXPECT_EQ(error(outcome::InfrastructureLost{outcome::Phase::Run, "no"}),
            "it was lost by the infrastructure, not by its own fault");
}

TEST(Exporter, SaysWhatAutotvmDoesNotKnow) {
  Exporter exporter("1.2.3");
  const auto refusal = [&](records::Record record) {
    const auto line = exporter.line_of(record, target());
    const auto* refused = std::get_if<Unmapped>(&line);
    return refused ? refused->reason : "";
  };
  EXPECT_EQ(refusal(record_of("softmax:m=8,n=8", {}, timing(1))),
            "AutoTVM has no task for softmax");
  records::Record fused = record_of("dense:m=8,n=8,k=8", {}, timing(1));
  EXPECT_EQ(refusal(fused), "its schedule is none of its template's");
  fused.task_name = "conv2d+add+relu 64x56x56";
  EXPECT_EQ(refusal(fused), "what its task computes is not known");
  fused.task_name = "dense:m=9,n=8,k=8";
  EXPECT_EQ(refusal(fused), "the operator is defined differently in this version");
}

}  // namespace
}  // namespace attune::logs
