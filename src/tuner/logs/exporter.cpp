#include "tuner/logs/exporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/match.h"
#include "compiler/schedule/algorithm.h"
#include "targets/kinds.h"
#include "tuner/logs/anchor_task.h"
#include "tuner/logs/knobs.h"

namespace attune::logs {
namespace {

// The values of a spec's keys; a key that is left out has the value of another one, or a number.
class SpecValues {
 public:
  explicit SpecValues(std::string_view spec) {
    spec.remove_prefix(std::min(spec.size(), spec.find(':') + 1));
    while (!spec.empty()) {
      const std::string_view piece = spec.substr(0, spec.find(','));
      const std::size_t equals = std::min(piece.find('='), piece.size() - 1);
      texts_.emplace(piece.substr(0, equals), piece.substr(equals + 1));
      spec.remove_prefix(std::min(spec.size(), piece.size() + 1));
    }
  }
  std::int64_t number(const std::string& key, std::int64_t fallback = 1) const {
    const auto found = texts_.find(key);
    if (found == texts_.end()) return fallback;
    std::int64_t value = fallback;
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
    return value;
  }
  std::string dtype() const {
    const auto found = texts_.find("dtype");
    const std::string ours = found == texts_.end() ? "f32" : found->second;
    for (const auto& [name, theirs] :
         {std::pair("f32", "float32"), std::pair("f16", "float16"), std::pair("bf16", "bfloat16"),
          std::pair("i8", "int8"), std::pair("u8", "uint8")}) {
      if (ours == name) return theirs;
    }
    return ours;
  }

 private:
  std::map<std::string, std::string, std::less<>> texts_;
};

Value list(std::initializer_list<std::int64_t> numbers) {
  Value::List items;
  for (const std::int64_t number : numbers) items.emplace_back().data = number;
  return {std::move(items)};
}

struct Window {
  Value strides, padding, dilation;
};

Window window_of(const SpecValues& v, std::int64_t default_pad) {
  const std::int64_t stride = v.number("stride"), pad = v.number("pad", default_pad);
  const std::int64_t pad_w = v.number("pad_w", pad), dilation = v.number("dilation");
  return {list({stride, v.number("stride_w", stride)}),
          list({pad, pad_w, v.number("pad_bottom", pad), v.number("pad_right", pad_w)}),
          list({dilation, v.number("dilation_w", dilation)})};
}

struct ForeignTask {
  std::string name;
  Value::List arguments;
};

ForeignTask conv2d_task(const SpecValues& v, bool winograd) {
  const std::string type = v.dtype(), layout = "NCHW";
  const Window window = window_of(v, 0);
  const std::int64_t groups = std::max<std::int64_t>(1, v.number("groups")), ic = v.number("ic");
  const Value data{Tensor{{v.number("n"), ic, v.number("h"), v.number("w")}, type}};
  const Value kernel{Tensor{{v.number("oc"), ic / groups, v.number("kh"), v.number("kw")}, type}};
  const auto& [strides, padding, dilation] = window;
  if (groups > 1) {
    return {"group_conv2d_nchw.x86", {data, kernel, strides, padding, dilation, {groups}, {type}}};
  }
  if (winograd) {
    return {"conv2d_nchw_winograd.x86", {data, kernel, strides, padding, dilation, {type}}};
  }
  return {"conv2d_NCHWc.x86",
          {data, kernel, strides, padding, dilation, {layout}, {layout}, {type}}};
}

ForeignTask depthwise_task(const SpecValues& v) {
  const std::string type = v.dtype(), layout = "NCHW";
  const std::int64_t c = v.number("c"), k = v.number("k");
  const Window window = window_of(v, k / 2);
  return {"depthwise_conv2d_NCHWc.x86",
          {{Tensor{{v.number("n"), c, v.number("h"), v.number("w")}, type}},
           {Tensor{{c, 1, k, v.number("kw", k)}, type}},
           window.strides,
           window.padding,
           window.dilation,
           {layout},
           {layout},
           {type}}};
}

ForeignTask transposed_task(const SpecValues& v) {
  const std::string type = v.dtype();
  const Window window = window_of(v, 0);
  const std::int64_t extra = v.number("output_pad", 0);
  return {"conv2d_transpose_nchw.x86",
          {{Tensor{{v.number("n"), v.number("ic"), v.number("h"), v.number("w")}, type}},
           {Tensor{{v.number("ic"), v.number("oc"), v.number("kh"), v.number("kw")}, type}},
           window.strides,
           window.padding,
           {type},
           list({extra, v.number("output_pad_w", extra)})}};
}

ForeignTask product_task(const std::string& family, const SpecValues& v) {
  const std::string type = v.dtype();
  const std::int64_t b = v.number("b"), m = v.number("m"), n = v.number("n"), k = v.number("k");
  if (family == "dense") {
    return {"dense_pack.x86", {{Tensor{{m, k}, type}}, {Tensor{{n, k}, type}}, {}, {type}}};
  }
  if (family == "matmul") {
    return {"matmul.x86",
            {{Tensor{{m, k}, type}}, {Tensor{{k, n}, type}}, {}, {type}, {false}, {false}}};
  }
  return {"batch_matmul.x86",
          {{Tensor{{b, m, k}, type}}, {Tensor{{b, n, k}, type}}, list({b, m, n})}};
}

ForeignTask foreign_task(const op_spec::OpTask& task, const std::string& algorithm) {
  const SpecValues values(task.spec);
  if (task.family == "conv2d") return conv2d_task(values, algorithm.starts_with("winograd"));
  if (task.family == "depthwise") return depthwise_task(values);
  if (task.family == "conv2d_transpose") return transposed_task(values);
  return product_task(task.family, values);
}

bool has_foreign_task(const std::string& family) {
  constexpr std::string_view kFamilies[] = {"conv2d", "depthwise",    "conv2d_transpose",
                                            "dense",  "batch_matmul", "matmul"};
  return std::find(std::begin(kFamilies), std::end(kFamilies), family) != std::end(kFamilies);
}

// Why an operator's task cannot be written, or "".
std::string refusal_of(const op_spec::OpTask& task) {
  if (!has_foreign_task(task.family)) {
    return fmt::format("AutoTVM has no task for {}", task.family);
  }
  const SpecValues values(task.spec);
  const bool dilated = values.number("dilation") != 1 || values.number("dilation_w") != 1;
  const bool grouped = values.number("groups") != 1;
  if (task.family == "conv2d_transpose" && (dilated || grouped)) {
    return "AutoTVM has no task for transposed convolutions with dilation or groups";
  }
  return {};
}

// AutoTVM's number; -1: nothing that the candidate is to blame for.
int error_number(const outcome::Outcome& outcome) {
  constexpr int kCompileHost = 2, kRuntime = 4, kWrongAnswer = 5, kBuildTimeout = 6,
                kRunTimeout = 7;
  return std::visit(Match{[](const outcome::Timing&) { return 0; },
                          [](const outcome::BuildFailed&) { return kCompileHost; },
                          [](const outcome::RunCrashed&) { return kRuntime; },
                          [](const outcome::WrongAnswer&) { return kWrongAnswer; },
                          [](const outcome::TimedOut& timed_out) {
                            return timed_out.phase == outcome::Phase::Build ? kBuildTimeout
                                                                            : kRunTimeout;
                          },
                          [](const outcome::InfrastructureLost&) { return -1; }},
                    outcome);
}

}  // namespace

Exporter::Task Exporter::make_task(const records::Record& record,
                                   const target::Target& target) const {
  Task task;
  Result<op_spec::OpTask> parsed = op_spec::parse_op_spec(record.task_name, target);
  if (!parsed.ok()) {
    const auto definition = define_ ? define_(record.task_key) : std::nullopt;
    if (!definition) {
      task.refusal = "what its task computes is not known";
      return task;
    }
    auto anchor = anchor_task(*definition, target);
    if (const auto* unmapped = std::get_if<Unmapped>(&anchor)) {
      task.refusal = unmapped->reason;
      return task;
    }
    parsed = std::get<op_spec::OpTask>(std::move(anchor));
  }
  task.refusal = refusal_of(*parsed);
  if (parsed->key != record.task_key) {
    task.refusal = "the operator is defined differently in this version";
  }
  task.mapped = std::make_unique<MappedTask>(std::move(*parsed), target);
  return task;
}

Exporter::Task& Exporter::task_of(const records::Record& record, const target::Target& target) {
  const std::tuple key(record.task_key, record.task_name, record.target);
  const auto known = tasks_.find(key);
  if (known != tasks_.end()) return known->second;
  return tasks_.emplace(key, make_task(record, target)).first->second;
}

std::variant<std::string, Unmapped> Exporter::line_of(const records::Record& record,
                                                      const target::Target& target) {
  const int error = error_number(record.outcome);
  if (error < 0) return Unmapped{"it was lost by the infrastructure, not by its own fault"};
  Task& task = task_of(record, target);
  if (!task.refusal.empty()) return Unmapped{task.refusal};
  const Result<schedule::Trace> trace = schedule::parse_trace(record.trace);
  if (!trace.ok()) return Unmapped{"its schedule is of another version"};
  const std::string name = schedule::algorithm_of(*trace);
  const AlgorithmSpace* algorithm = task.mapped->algorithm(name);
  if (!algorithm) return Unmapped{fmt::format("algorithm {} does not exist any more", name)};
  space::TraceLookup& lookup = task.lookups.try_emplace(name, *algorithm->space).first->second;
  const auto point = lookup.find(*trace);
  if (!point) return Unmapped{"its schedule is none of its template's"};

  ForeignTask foreign = foreign_task(task.mapped->task(), name);
  LogRecord line{.target = targets::kind_of(target).autotvm_text(target),
                 .task = std::move(foreign.name),
                 .arguments = std::move(foreign.arguments),
                 .entities = entities_of(algorithm->space->knobs(0), point->choices,
                                         algorithm->template_name, name, target.lanes(4)),
                 .index = static_cast<std::int64_t>(algorithm->space->index_of(*point)),
                 .seconds = {1e9},
                 .error = error,
                 .all_seconds = (record.stages.build_ms + record.stages.run_ms) * 1e-3,
                 .unix_seconds = static_cast<double>(record.created_at_ms) * 1e-3,
                 .tvm_version = "attune " + version_};
  if (const auto* timing = std::get_if<outcome::Timing>(&record.outcome)) {
    line.seconds = {timing->best_us * 1e-6};
  }
  return to_log_line(line);
}

}  // namespace attune::logs
