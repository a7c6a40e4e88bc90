#include "tuner/logs/adapt.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "base/hash.h"
#include "compiler/ir/text/print.h"
#include "tuner/logs/mapper.h"
#include "tuner/tunings/tunings.h"

namespace attune::logs {

std::string anchor_key(const ir::Program& direct) {
  if (!direct.find_stage("anchor")) return {};
  std::istringstream lines(ir::to_string(direct));
  std::string shared;
  for (std::string line; std::getline(lines, line);) {
    for (const char* part : {"  stage pad(", "  stage filter(", "  stage anchor("}) {
      if (line.starts_with(part)) shared += line + "\n";
    }
  }
  return hex64(hash_bytes(shared));
}

std::string config_text(const std::string& algorithm, const space::TemplateSpace& space,
                        const space::Point& point) {
  return algorithm + " " + space::to_string(space.knobs(point.alternative), point.choices);
}

std::vector<schedule::Trace> adapt_hints(std::span<const records::Hint> hints,
                                         std::span<const space::NamedProgram> programs,
                                         const target::Target& target) {
  std::map<std::string, space::TemplateSpace> spaces;
  std::set<std::uint64_t> seen;
  std::vector<schedule::Trace> traces;
  for (const records::Hint& hint : hints) {
    std::istringstream words(hint.config);
    std::string algorithm;
    words >> algorithm;
    const auto program =
        std::find_if(programs.begin(), programs.end(),
                     [&](const space::NamedProgram& each) { return each.name == algorithm; });
    if (program == programs.end()) continue;
    space::Settings settings;
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos) continue;
      const auto choice = space::parse_choice(word.substr(equals + 1));
      if (choice) settings.emplace_back(word.substr(0, equals), *choice);
    }
    const space::TemplateSpace& space =
        spaces
            .try_emplace(algorithm, std::vector<space::NamedProgram>{*program},
                         tunings::tuning_of(target).templates(), target)
            .first->second;
    const Result<space::Point> point = nearest_point(space, settings);
    if (!point.ok()) continue;
    schedule::Trace trace = space.trace_of(*point);
    if (seen.insert(schedule::hash(trace)).second) traces.push_back(std::move(trace));
  }
  return traces;
}

}  // namespace attune::logs
