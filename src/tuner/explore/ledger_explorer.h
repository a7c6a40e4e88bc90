// What explorers that keep a ledger have in common: all but the choice of candidates.
#pragma once

#include "tuner/explore/ledger.h"

namespace attune::explore {

class LedgerExplorer : public Explorer {
 public:
  LedgerExplorer(const SearchOptions& options, const SearchContext& context)
      : options_(options), ledger_(context, options.reject_hopeless) {}

  void update(std::span<const space::Candidate> tried) override { ledger_.record(tried); }
  bool exhausted() const override { return exhausted_; }
  space::RejectionCounts rejections() const override { return ledger_.rejections(); }
  std::string changes() override;
  Status restore(std::span<const std::string> changes) override;

 protected:
  // What an explorer keeps besides its ledger, in few bytes: whole, each time.
  virtual void save_own(nlohmann::json&) const {}
  virtual Status load_own(const nlohmann::json&) { return {}; }
  // Everything is there again.
  virtual void restored() {}

  SearchOptions options_;
  Ledger ledger_;
  bool exhausted_ = false;
};

}  // namespace attune::explore
