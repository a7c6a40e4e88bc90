#include "tuner/explore/ledger_explorer.h"

#include <nlohmann/json.hpp>

namespace attune::explore {

std::string LedgerExplorer::changes() {
  nlohmann::json document = ledger_.take_changes();
  save_own(document);
  return document.dump();
}

Status LedgerExplorer::restore(std::span<const std::string> changes) {
  CHECK(ledger_.unused(), "an explorer is restored before it is used");
  for (const std::string& each : changes) {
    ATTUNE_ASSIGN(const nlohmann::json document, parse_saved(each));
    if (Ledger::is_former(document)) continue;
    ATTUNE_RETURN_IF_ERROR(ledger_.restore(document));
    ATTUNE_RETURN_IF_ERROR(load_own(document));
  }
  restored();
  return {};
}

}  // namespace attune::explore
