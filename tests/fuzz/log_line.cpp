// Lines of AutoTVM's logs.
#include "tuner/logs/log_line.h"

#include "tests/fuzz/harness.h"

namespace attune::fuzz {

void fuzz_log_line(std::string_view bytes) {
  const logs::LogLine line = logs::parse_log_line(bytes);
  if (const auto* record = std::get_if<logs::LogRecord>(&line)) (void)logs::mean_seconds(*record);
  (void)logs::looks_like_log(bytes);
}

}  // namespace attune::fuzz
