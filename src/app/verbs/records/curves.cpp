#include "app/verbs/records/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "compiler/model/schedules/known_schedule.h"
#include "tuner/records/record_json.h"
#include "tuner/records/store.h"

namespace attune::verbs {
namespace {

std::optional<records::SessionId> session_number(const std::string& text) {
  records::SessionId number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  // Keys of tasks are 16 digits, some of them without a letter.
  constexpr std::size_t kMostDigits = 12;
  const bool whole = failure == std::errc() && stop == end && text.size() <= kMostDigits;
  return whole ? std::optional(number) : std::nullopt;
}

struct Trial {
  std::int64_t number = 0;  // of the candidate
  std::optional<double> time_us;
};

// Trials are candidates with an outcome from the device.
bool is_trial(const outcome::Outcome& outcome) {
  return !std::holds_alternative<outcome::BuildFailed>(outcome) &&
         !std::holds_alternative<outcome::InfrastructureLost>(outcome) &&
         outcome::phase_of(outcome) != outcome::Phase::Build;
}

std::vector<CurvePoint> points_of(std::vector<Trial> trials) {
  std::sort(trials.begin(), trials.end(),
            [](const Trial& a, const Trial& b) { return a.number < b.number; });
  std::vector<CurvePoint> points;
  std::optional<double> best;
  for (const Trial& trial : trials) {
    if (trial.time_us && (!best || *trial.time_us < *best)) best = trial.time_us;
    points.push_back({static_cast<std::int64_t>(points.size()) + 1, trial.time_us, best});
  }
  return points;
}

}  // namespace

Result<std::vector<Curve>> tuning_curves(const RecordsOptions& options) {
  RecordsOptions asked = options;
  const auto number = session_number(options.task);
  if (number) asked.task.clear();
  ATTUNE_ASSIGN(records::RecordFilter filter, filter_of(asked));
  filter.session = number;
  filter.limit = {};
  ATTUNE_ASSIGN(const std::string path, model::records_path(options.records));
  ATTUNE_ASSIGN(const auto store, records::open_sqlite_store_for_reading(path));
  std::map<records::SessionId, std::pair<Curve, std::vector<Trial>>, std::greater<>> found;
  ATTUNE_RETURN_IF_ERROR(store->visit(filter, [&](const records::Record& record) -> Status {
    if (record.session == 0) return {};
    auto& [curve, trials] = found[record.session];
    curve.session = record.session;
    curve.task = record.task_name;
    curve.key = record.task_key;
    curve.target = record.target;
    // Newest first: the last one seen is where it began.
    curve.started_at_ms = record.created_at_ms;
    const std::optional<double> time = records::competing_time_us(record.outcome);
    curve.failed += time ? 0 : 1;
    if (is_trial(record.outcome)) trials.push_back({record.number, time});
    return {};
  }));
  std::vector<Curve> curves;
  for (auto& [session, content] : found) {
    content.first.points = points_of(std::move(content.second));
    curves.push_back(std::move(content.first));
    if (options.limit && curves.size() == static_cast<std::size_t>(*options.limit)) break;
  }
  return curves;
}

std::string sparkline(const Curve& curve, std::size_t width) {
  constexpr const char* kBars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t count = std::min(width, curve.points.size());
  const std::optional<double> best = curve.best_us();
  std::string line;
  for (std::size_t i = 0; i < count; ++i) {
    // The last trial of each bar.
    const CurvePoint& point = curve.points[(i + 1) * curve.points.size() / count - 1];
    if (!best || !point.best_us) {
      line += " ";
      continue;
    }
    const double share = *best / *point.best_us;
    const auto level = static_cast<std::size_t>(std::lround(share * 7));
    line += kBars[std::min<std::size_t>(level, 7)];
  }
  return line;
}

std::string to_csv(const std::vector<Curve>& curves) {
  const auto number = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.4f}", *value) : "";
  };
  std::string text = "session,task,target,trial,time_us,best_us\n";
  for (const Curve& curve : curves) {
    for (const CurvePoint& point : curve.points) {
      text += fmt::format("{},\"{}\",\"{}\",{},{},{}\n", curve.session, curve.task, curve.target,
                          point.trial, number(point.time_us), number(point.best_us));
    }
  }
  return text;
}

std::string to_json(const std::vector<Curve>& curves) {
  using Json = nlohmann::ordered_json;
  const auto or_null = [](const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
  };
  Json list = Json::array();
  for (const Curve& curve : curves) {
    Json times = Json::array(), bests = Json::array();
    for (const CurvePoint& point : curve.points) {
      times.push_back(or_null(point.time_us));
      bests.push_back(or_null(point.best_us));
    }
    list.push_back({{"session", curve.session},
                    {"task", curve.task},
                    {"key", curve.key},
                    {"target", curve.target},
                    {"trials", curve.points.size()},
                    {"failed", curve.failed},
                    {"best_us", or_null(curve.best_us())},
                    {"times_us", std::move(times)},
                    {"bests_us", std::move(bests)}});
  }
  return Json{{"curves", std::move(list)}}.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace attune::verbs
