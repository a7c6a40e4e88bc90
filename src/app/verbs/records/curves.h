// How tuning went: the best time so far after each trial, session by session.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/verbs/records/records.h"
#include "base/result.h"

namespace attune::verbs {

struct CurvePoint {
  std::int64_t trial = 0;              // from 1
  std::optional<double> time_us = {};  // of this trial; none: it failed
  std::optional<double> best_us = {};  // of all up to it
};

struct Curve {
  std::int64_t session = 0;
  std::string task = {}, key = {}, target = {};
  std::int64_t failed = 0;
  std::int64_t started_at_ms = 0;
  std::vector<CurvePoint> points = {};
  std::optional<double> best_us() const {
    return points.empty() ? std::nullopt : points.back().best_us;
  }
};

// Newest session first. The task of the options may also be the number of a session.
Result<std::vector<Curve>> tuning_curves(const RecordsOptions& options);

// `width` bars, higher for faster: each as high as the best so far compares with the final best.
std::string sparkline(const Curve& curve, std::size_t width);
// session,task,target,trial,time_us,best_us
std::string to_csv(const std::vector<Curve>& curves);
// {"curves": […]}
std::string to_json(const std::vector<Curve>& curves);

}  // namespace attune::verbs
