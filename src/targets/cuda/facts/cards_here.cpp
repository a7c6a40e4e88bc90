#include "targets/cuda/facts/cards_here.h"

#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>

#include "base/answer_reader.h"
#include "base/isolated.h"

namespace attune::cuda {
namespace {

void append_card(Bytes& bytes, const Card& card) {
  append_text(bytes, card.name);
  append_value(bytes, card.compute.major);
  append_value(bytes, card.compute.minor);
  append_value(bytes, card.driver);
  for (const std::int64_t number :
       {card.multiprocessors, card.clock_mhz, card.shared_bytes, card.resident_shared_bytes,
        card.l2_bytes, card.dram_gbps, card.memory_bytes}) {
    append_value(bytes, number);
  }
}

Card take_card(AnswerReader& reader) {
  Card card;
  card.name = reader.text();
  card.compute.major = reader.value<int>();
  card.compute.minor = reader.value<int>();
  card.driver = reader.value<int>();
  for (std::int64_t* number :
       {&card.multiprocessors, &card.clock_mhz, &card.shared_bytes, &card.resident_shared_bytes,
        &card.l2_bytes, &card.dram_gbps, &card.memory_bytes}) {
    *number = reader.value<std::int64_t>();
  }
  return card;
}

}  // namespace

Result<std::vector<Card>> look_for_cards() {
  ATTUNE_ASSIGN(const std::shared_ptr<const Driver> driver, open_driver());
  const auto ask = [&]() -> Result<Bytes> {
    ATTUNE_ASSIGN(const std::vector<Card> cards, read_cards(*driver));
    Bytes bytes;
    for (const Card& card : cards) append_card(bytes, card);
    return bytes;
  };
  ATTUNE_ASSIGN(const Bytes answer, run_isolated("asking for CUDA devices", ask,
                                                 {.seconds = 60, .limits_addresses = false}));
  AnswerReader reader(answer);
  std::vector<Card> cards;
  while (!reader.rest().empty()) cards.push_back(take_card(reader));
  ATTUNE_RETURN_IF_ERROR(reader.status());
  if (cards.empty()) return unsupported("no CUDA device is here", kElsewhere);
  return cards;
}

Result<std::vector<Card>> cards_here() {
  static std::mutex mutex;
  static std::optional<Result<std::vector<Card>>> known;
  const std::lock_guard lock(mutex);
  if (!known) known = look_for_cards();
  return *known;
}

}  // namespace attune::cuda
