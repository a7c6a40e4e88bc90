// The book of an explorer: what was predicted for which point, what was rejected and why, what was
// proposed and what came of it. Its size is bounded, but for a few bytes per proposal that keep a
// candidate from being proposed twice: predictions that were not asked for in a while are made
// again, and of very many results only those remain that there is most to learn from.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "tuner/explore/explorer.h"
#include "tuner/space/trace_lookup.h"

namespace attune::explore {

class Ledger {
 public:
  Ledger(const SearchContext& context, bool reject_hopeless)
      : space_(context.space),
        model_(context.model),
        reject_hopeless_(reject_hopeless),
        lookup_(context.space) {}

  const space::Space& space() const { return space_; }
  // The predicted time, or nothing for a rejected point; mostly looked up when asked again.
  std::optional<double> predicted_us(const space::Point& point);
  // The same of all of them, on several threads: they are looked up from then on.
  void foresee(std::span<const space::Point* const> points);
  // Proposed, or found to have a trace that was.
  bool gone(const space::Point& point) const { return gone_.contains(space_.index_of(point)); }
  // Makes the proposal, unless the point is rejected or its trace was proposed or is known.
  std::optional<space::Candidate> propose(const space::Point& point, const Hashes& known);
  // Candidates that were not proposed here count too where it can be told which point has the
  // trace; others are ignored.
  void record(std::span<const space::Candidate> tried);

  // In the order of proposals, without their traces and those that were left behind.
  const std::vector<space::Candidate>& candidates() const { return candidates_; }
  bool was_tried(const space::Candidate& candidate) const {
    return !open_.contains(candidate.trace_hash);
  }
  // Nothing was proposed yet.
  bool unused() const { return candidates_.empty() && gone_.empty(); }
  // Those of them that were, for a learner.
  std::vector<space::Candidate> tried() const;
  // The fastest, fastest first.
  std::vector<const space::Candidate*> best(std::size_t count) const;
  const space::RejectionCounts& rejections() const { return rejections_; }

  // What changed since this was last asked, points by their index; and the same again, in order.
  nlohmann::json take_changes();
  Status restore(const nlohmann::json& changes);
  // Of a program that kept the search in another way. What it tried is known by its records; the
  // search begins anew.
  static bool is_former(const nlohmann::json& changes);

 private:
  // One thing that happened to the book, and to whom; who is gone has a point and nothing else.
  struct Change {
    enum class Kind : std::uint8_t { Gone, Proposed, Adopted, Found, LeftBehind };
    Kind kind = Kind::Gone;
    space::Candidate candidate = {};  // without its trace
  };

  // Two generations: when the younger one is full it becomes the older one, which is forgotten.
  class Predictions {
   public:
    const double* find(std::uint64_t key);
    void add(std::uint64_t key, double us);

   private:
    std::unordered_map<std::uint64_t, double> young_, old_;  // by point; negative: rejected
  };

  // What a thread can find out by itself, and what the book makes of it.
  Result<double> model_us(const space::Point& point) const;
  std::optional<double> judge(const Result<double>& us);
  std::optional<double> reject(const std::string& reason);
  // Whether it is one of the candidates here, which was tried then.
  bool settle(const space::Candidate& tried);
  void adopt(std::vector<const space::Candidate*> foreign);
  std::optional<space::Point> point_of(const space::Candidate& candidate);
  Status apply(const nlohmann::json& change);
  void add(space::Candidate candidate);
  void leave_behind();
  // Above this a point is not worth the time it would take.
  double ceiling_us();

  const space::Space& space_;
  const cost_model::CostModel& model_;
  bool reject_hopeless_;
  Predictions predictions_;
  Hashes gone_;                                                  // indices of points
  Hashes traces_;                                                // of all proposals
  Hashes open_;                                                  // of those not tried yet
  std::unordered_map<std::uint64_t, std::size_t> by_trace_;      // position of the candidate
  std::unordered_map<std::uint64_t, std::uint64_t> all_traces_;  // hash to index, of small spaces
  space::TraceLookup lookup_;                                    // of others
  std::vector<space::Candidate> candidates_;
  space::RejectionCounts rejections_;
  std::optional<double> ceiling_us_;
  std::vector<Change> changes_;  // since they were last taken
};

// Adds the defaults of the space, the most promising first, when nothing was proposed before,
// `wanted` in all at most.
void add_defaults(std::vector<space::Candidate>& batch, std::size_t wanted, Ledger& ledger,
                  const Hashes& known);

// Parts of the document that an explorer saves.
nlohmann::json save_points(const space::Space& space, std::span<const space::Point> points);
Result<std::vector<space::Point>> load_points(const space::Space& space,
                                              const nlohmann::json& document, const char* name);
// An index of the space, or its size.
Result<std::uint64_t> load_position(const space::Space& space, const nlohmann::json& document,
                                    const char* name);
Result<nlohmann::json> parse_saved(std::string_view saved);

}  // namespace attune::explore
