#include "tuner/session/explorer_search.h"

#include <sstream>
#include <utility>

#include "base/hash.h"
#include "base/rng.h"
#include "tuner/space/template_space.h"
#include "tuner/tunings/tunings.h"

namespace attune::session {
namespace {

// What an explorer refers to, in the order it must be made.
struct OwnedContext {
  std::unique_ptr<space::TemplateSpace> space;
  std::unique_ptr<cost_model::CostModel> model;
  std::shared_ptr<const cost_model::History> history;
};

class ExplorerSearch final : public Search {
 public:
  ExplorerSearch(OwnedContext context, std::unique_ptr<explore::Explorer> explorer,
                 std::uint64_t seed)
      : context_(std::move(context)), explorer_(std::move(explorer)), seed_(seed) {}

  std::vector<space::Candidate> select(std::size_t count) override {
    // A generator per selection, so that their number is all there is to remember.
    Rng rng(hash_combine(seed_, ++selections_));
    return explorer_->select(count, known_, rng);
  }

  void update(std::span<const space::Candidate> tried) override {
    for (const space::Candidate& candidate : tried) {
      const std::uint64_t hash = candidate.trace_hash;
      if (known_.insert(hash).second) fresh_.push_back(hash);
    }
    explorer_->update(tried);
  }

  RejectionCounts rejections() const override { return explorer_->rejections(); }

  // "SEED SELECTIONS COUNT HASH…" of what became known, and from the next line on the explorer's.
  std::string changes() override {
    std::ostringstream text;
    text << seed_ << ' ' << selections_ << ' ' << fresh_.size();
    for (const std::uint64_t hash : fresh_) text << ' ' << hash;
    fresh_.clear();
    text << '\n' << explorer_->changes();
    return text.str();
  }

  Status restore(std::span<const std::string> changes) override {
    std::vector<std::string> of_explorer;
    for (const std::string& each : changes) {
      const std::size_t end = each.find('\n');
      std::istringstream text{each.substr(0, end)};
      std::size_t count = 0, seen = 0;
      text >> seed_ >> selections_ >> count;
      for (std::uint64_t hash = 0; text >> hash; ++seen) known_.insert(hash);
      if (end == std::string::npos || seen != count) {
        return Error{ErrorCode::Corrupt, "the stored state of the search is damaged",
                     "start a new session without --resume"};
      }
      of_explorer.push_back(each.substr(end + 1));
    }
    return explorer_->restore(of_explorer);
  }

 private:
  OwnedContext context_;
  std::unique_ptr<explore::Explorer> explorer_;
  std::uint64_t seed_;
  std::uint64_t selections_ = 0;
  explore::Hashes known_;
  std::vector<std::uint64_t> fresh_;  // known since changes() was last asked
};

}  // namespace

Result<std::unique_ptr<Search>> make_template_search(
    const Task& task, const target::Target& target, const explore::SearchOptions& options,
    std::uint64_t seed, std::shared_ptr<const cost_model::History> history) {
  std::vector<space::NamedProgram> programs;
  for (const Algorithm& algorithm : task.algorithms) {
    if (!algorithm.competes) continue;
    programs.push_back({algorithm.name, *algorithm.program});
  }
  OwnedContext context;
  context.space = std::make_unique<space::TemplateSpace>(
      std::move(programs), tunings::tuning_of(target).templates(), target,
      options.reject_hopeless ? space::Rejection::Hopeless : space::Rejection::Impossible);
  context.model = tunings::tuning_of(target).prior(target, false);
  if (history && !history->empty()) context.history = std::move(history);
  explore::SearchOptions seeded = options;
  seeded.learner.seed = hash_combine(seed, options.learner.seed);
  ATTUNE_ASSIGN(auto explorer, explore::make_explorer(seeded, {*context.space, *context.model,
                                                               context.history.get()}));
  return std::unique_ptr<Search>(
      std::make_unique<ExplorerSearch>(std::move(context), std::move(explorer), seed));
}

}  // namespace attune::session
