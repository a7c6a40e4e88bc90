#include "tuner/explore/random.h"

#include <numeric>

#include "tuner/explore/explorer_def.h"

namespace attune::explore {
namespace {

constexpr int kFruitlessDraws = 2'000;
constexpr std::uint64_t kWalkable = std::uint64_t{1} << 18;

// From a random place on, with a stride that visits every point once.
bool walk(std::vector<space::Candidate>& batch, std::size_t wanted, Ledger& ledger,
          const Hashes& known, Rng& rng) {
  const std::uint64_t size = ledger.space().size();
  std::uint64_t stride = 1 + rng.below(size);
  while (std::gcd(stride, size) != 1) ++stride;
  std::uint64_t index = rng.below(size);
  for (std::uint64_t i = 0; i < size && batch.size() < wanted; ++i) {
    index = (index + stride) % size;
    if (auto proposal = ledger.propose(ledger.space().point_at(index), known)) {
      batch.push_back(std::move(*proposal));
    }
  }
  return batch.size() == wanted;
}

}  // namespace

bool add_random(std::vector<space::Candidate>& batch, std::size_t wanted, Ledger& ledger,
                const Hashes& known, Rng& rng) {
  if (ledger.space().size() == 0) return batch.size() == wanted;
  for (int fruitless = 0; batch.size() < wanted && fruitless < kFruitlessDraws; ++fruitless) {
    if (auto proposal = ledger.propose(ledger.space().sample(rng), known)) {
      batch.push_back(std::move(*proposal));
      fruitless = 0;
    }
  }
  if (batch.size() == wanted) return true;
  return ledger.space().size() <= kWalkable && walk(batch, wanted, ledger, known, rng);
}

std::vector<space::Candidate> RandomExplorer::select(std::size_t batch, const Hashes& known,
                                                     Rng& rng) {
  std::vector<space::Candidate> proposals;
  exhausted_ = !add_random(proposals, batch, ledger_, known, rng);
  return proposals;
}

ExplorerDef random_explorer() { return {"random", make<RandomExplorer>}; }

}  // namespace attune::explore
