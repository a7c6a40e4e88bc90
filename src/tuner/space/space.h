// A space: what a tuner may choose. A point is plain data, its trace a schedule. Points may be
// rejected before anything is built: by the template, because a step is illegal, or because the
// schedule is hopeless on the target (limits.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "compiler/schedule/bounds.h"
#include "compiler/schedule/trace.h"
#include "compiler/target/target.h"
#include "tuner/space/config.h"

namespace attune::space {

// One of the alternatives (algorithm and template) and the choices of its knobs.
struct Point {
  std::uint32_t alternative = 0;
  Config choices;
  friend bool operator==(const Point&, const Point&) = default;
};
std::uint64_t hash(const Point& point);

// A point that was not rejected, with all that the models look at.
struct Scheduled {
  schedule::State state;
  std::vector<schedule::StageBounds> bounds;
};

// Why points were rejected, and how many.
using RejectionCounts = std::map<std::string, std::int64_t>;

class Space {
 public:
  virtual ~Space() = default;

  // The number of points, rejected ones included.
  virtual std::uint64_t size() const = 0;
  virtual Point point_at(std::uint64_t index) const = 0;
  virtual std::uint64_t index_of(const Point& point) const = 0;
  // Any point, each alternative equally often.
  virtual Point sample(Rng& rng) const = 0;
  // All points that differ in one choice.
  virtual std::vector<Point> neighbours(const Point& point) const = 0;
  // One of them.
  virtual Point neighbour(const Point& point, Rng& rng) const = 0;
  // What to try first: the default of each alternative.
  virtual std::vector<Point> defaults() const = 0;

  virtual schedule::Trace trace_of(const Point& point) const = 0;
  // The error's message is the reason of the rejection.
  virtual Result<Scheduled> schedule_of(const Point& point) const = 0;

  // "direct conv2d: tile=6x2 rows=4"
  virtual std::string to_string(const Point& point) const = 0;
  virtual const target::Target& target() const = 0;
  virtual std::size_t alternatives() const = 0;
  virtual const std::vector<Knob>& knobs(std::uint32_t alternative) const = 0;
  // About how long it takes to schedule a point of the alternative and to predict its time; an
  // estimate from its program, the same on every machine.
  virtual double effort_us(std::uint32_t alternative) const = 0;
};

}  // namespace attune::space
