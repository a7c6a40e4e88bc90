// Grid search: the points of the space one after the other, in the order of their indices.
#pragma once

#include "tuner/explore/ledger.h"

namespace attune::explore {

class GridExplorer : public Explorer {
 public:
  GridExplorer(const SearchOptions& options, const Surroundings& surroundings)
      : ledger_(surroundings, options.reject_hopeless) {}

  std::vector<Proposal> select(std::size_t batch, const Hashes& known, Rng& rng) override;
  void update(std::span<const Finding> findings) override { ledger_.record(findings); }
  bool exhausted() const override { return exhausted_; }
  space::RejectionCounts rejections() const override { return ledger_.rejections(); }
  std::string save() const override;
  Status load(std::string_view saved) override;

 private:
  Ledger ledger_;
  std::uint64_t next_ = 0;  // index of a point
  bool exhausted_ = false;
};

}  // namespace attune::explore
