// What an explorer stored of its search, from which it is made again. The input is a byte that says
// which explorer, and its changes, one per line.
#include <vector>

#include "tests/fuzz/harness.h"
#include "tuner/explore/explorer.h"
#include "tuner/explore/knobs_space_testing.h"

namespace attune::fuzz {
namespace {

class NoModel : public cost_model::CostModel {
 public:
  double predict_us(const space::Scheduled&) const override { return 1; }
};

}  // namespace

void fuzz_search_state(std::string_view bytes) {
  static const explore::KnobsSpace space(3, 4);
  static const NoModel model;
  if (bytes.empty()) return;
  const auto names = explore::explorer_names();
  const explore::SearchOptions options{
      .explorer = std::string(names[static_cast<unsigned char>(bytes[0]) % names.size()])};
  bytes.remove_prefix(1);
  std::vector<std::string> changes;
  for (std::size_t end = 0; !bytes.empty(); bytes.remove_prefix(std::min(end + 1, bytes.size()))) {
    end = std::min(bytes.find('\n'), bytes.size());
    changes.emplace_back(bytes.substr(0, end));
  }
  auto explorer = explore::make_explorer(options, {space, model});
  if (!explorer.ok() || !(*explorer)->restore(changes).ok()) return;
  Rng rng(1);
  (void)(*explorer)->select(4, {}, rng);
}

}  // namespace attune::fuzz
