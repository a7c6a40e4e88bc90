#include "tuner/templates/trace_writer.h"

#include "base/check.h"
#include "tuner/space/knob.h"

namespace attune::templates {

schedule::Names TraceWriter::split_as(const std::string& stage, const std::string& loop,
                                      std::span<const std::int64_t> factors) {
  split(stage, loop, {factors.begin(), factors.end()});
  schedule::Names loops;
  for (std::size_t i = 0; i <= factors.size(); ++i) loops.push_back(loop + "." + std::to_string(i));
  return loops;
}

void TraceWriter::annotate_as(const std::string& stage, const schedule::Names& loops,
                              std::span<const std::int64_t> annotations) {
  CHECK(annotations.size() == loops.size(), "there is an annotation for every loop");
  for (std::size_t i = 0; i < loops.size(); ++i) {
    switch (static_cast<space::Annotation>(annotations[i])) {
      case space::Annotation::None:
        break;
      case space::Annotation::Unroll:
        unroll(stage, loops[i]);
        break;
      case space::Annotation::Vectorize:
        vectorize(stage, loops[i]);
        break;
    }
  }
}

}  // namespace attune::templates
