#include "runtime/execution/own_cores.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <set>

namespace attune::runtime {
namespace {

// Of the fastest core's speed. Efficient cores of Intel and small ones of ARM are below, cores that
// may clock a little higher than others are not.
constexpr double kAboutAsFast = 0.7;
// Of an efficient core beside the others, in vector arithmetic.
constexpr double kEfficient = 0.5;

// The system's form of a set of processors: numbers and ranges, such as 0-3,8.
std::set<int> read_list(const std::string& path) {
  std::ifstream file(path);
  std::set<int> all;
  for (std::string piece; std::getline(file, piece, ',');) {
    int first = 0, last = 0;
    const char* const end = piece.data() + piece.size();
    auto read = std::from_chars(piece.data(), end, first);
    if (read.ec != std::errc()) return {};
    last = first;
    if (read.ptr != end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, last);
    constexpr int kMostProcessors = 1 << 16;
    if (read.ec != std::errc() || first < 0 || last > kMostProcessors) return {};
    for (int i = first; i <= last; ++i) all.insert(all.end(), i);
  }
  return all;
}

class Topology {
 public:
  explicit Topology(const std::string& root)
      : devices_(root + "/sys/devices/"), efficient_(read_list(devices_ + "cpu_atom/cpus")) {}

  // Those that share a core with this one, itself among them where the system says.
  std::set<int> on_the_core_of(int processor) const {
    const std::string folder = folder_of(processor) + "/topology/";
    const std::set<int> all = read_list(folder + "core_cpus_list");
    return all.empty() ? read_list(folder + "thread_siblings_list") : all;  // before Linux 5.3
  }

  double speed_of(int processor) const {
    double capacity = 0;
    std::ifstream(folder_of(processor) + "/cpu_capacity") >> capacity;
    const double stated = capacity > 0 ? capacity / 1024 : 1;
    return efficient_.contains(processor) ? std::min(stated, kEfficient) : stated;
  }

 private:
  std::string folder_of(int processor) const {
    return devices_ + "system/cpu/cpu" + std::to_string(processor);
  }

  std::string devices_;
  std::set<int> efficient_;
};

}  // namespace

std::vector<int> own_cores(const std::vector<int>& processors, const std::string& root) {
  const Topology topology(root);
  std::vector<std::pair<int, double>> firsts;
  std::set<int> taken;
  double fastest = 0;
  for (const int processor : processors) {
    if (!taken.insert(processor).second) continue;
    taken.merge(topology.on_the_core_of(processor));
    firsts.emplace_back(processor, topology.speed_of(processor));
    fastest = std::max(fastest, firsts.back().second);
  }
  std::vector<int> own;
  for (const auto& [processor, speed] : firsts) {
    if (speed >= kAboutAsFast * fastest) own.push_back(processor);
  }
  return own;
}

std::vector<int> own_cores_first(const std::vector<int>& processors, const std::string& root) {
  std::vector<int> ordered = own_cores(processors, root);
  const std::set<int> own(ordered.begin(), ordered.end());
  std::copy_if(processors.begin(), processors.end(), std::back_inserter(ordered),
               [&](int processor) { return !own.contains(processor); });
  return ordered;
}

}  // namespace attune::runtime
