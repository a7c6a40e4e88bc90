#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "app/cli/fleet/jobs_view.h"

namespace attune::cli {
namespace {

using client::JobStatus;
using client::Overview;
using client::StageBar;

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
// Of the 256 colours of a terminal: far apart, light enough for black letters.
constexpr int kColours[] = {114, 111, 215, 176, 80, 222, 210, 150, 147, 180, 117, 204};
constexpr std::string_view kIdle = "·";

// Jobs with bars, numbered in the order of the list; letters and colours follow the numbers.
std::map<std::string, std::size_t> numbers_of(const Overview& overview) {
  std::map<std::string, std::size_t> numbers;
  for (const JobStatus& job : overview.jobs) {
    const bool seen = std::any_of(overview.bars.begin(), overview.bars.end(),
                                  [&](const StageBar& bar) { return bar.job == job.id; });
    if (seen) numbers.emplace(job.id, numbers.size());
  }
  return numbers;
}

char letter_of(std::size_t number) { return kLetters[number % kLetters.size()]; }

std::string painted(char letter, std::size_t number, bool colours) {
  if (!colours) return std::string(1, letter);
  return fmt::format("\033[30;48;5;{}m{}\033[0m", kColours[number % std::size(kColours)], letter);
}

// How far back the strips reach: round, and enough for the oldest bar.
double window_seconds(const Overview& overview, double now) {
  double age = 0;
  for (const StageBar& bar : overview.bars) age = std::max(age, now - bar.started_at);
  for (const double seconds : {30.0, 60.0, 120.0, 300.0}) {
    if (age <= seconds) return seconds;
  }
  return 600;
}

// The last seconds of one unit of a pool: in each cell the job that had it longest, or nobody.
std::string strip_of(const Overview& overview, const client::PoolStatus& pool, int slot,
                     double begin, double now, std::size_t cells, bool colours) {
  const auto numbers = numbers_of(overview);
  const double width = (now - begin) / static_cast<double>(cells);
  std::vector<std::map<std::size_t, double>> had(cells);
  for (const StageBar& bar : overview.bars) {
    const bool here = std::find(bar.slots.begin(), bar.slots.end(), slot) != bar.slots.end();
    const auto number = numbers.find(bar.job);
    if (bar.pool != pool.name || !here || number == numbers.end()) continue;
    const double from = std::max(begin, bar.started_at);
    const double to = std::min(now, bar.ended_at > 0 ? bar.ended_at : now);
    if (to <= from) continue;
    const auto cell_at = [&](double time) {
      return std::min(cells - 1, static_cast<std::size_t>((time - begin) / width));
    };
    for (std::size_t cell = cell_at(from); cell <= cell_at(to); ++cell) {
      const double left = begin + static_cast<double>(cell) * width;
      had[cell][number->second] += std::max(0.0, std::min(to, left + width) - std::max(from, left));
    }
  }
  std::string strip;
  for (const auto& shares : had) {
    double idle = width;
    const auto most =
        std::max_element(shares.begin(), shares.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    for (const auto& [number, seconds] : shares) idle -= seconds;
    const bool taken = most != shares.end() && most->second > idle;
    strip += taken ? painted(letter_of(most->first), most->first, colours) : std::string(kIdle);
  }
  return strip;
}

// All strips, and the time below them.
std::vector<std::string> strips(const Overview& overview, double now, const Screen& screen) {
  constexpr std::size_t kNames = 12, kBusy = 6;
  const std::size_t cells =
      std::max<std::size_t>(screen.columns, kNames + kBusy + 20) - kNames - kBusy;
  const double window = window_seconds(overview, now);
  std::vector<std::string> lines;
  for (const client::PoolStatus& pool : overview.pools) {
    for (int slot = 0; slot < pool.capacity; ++slot) {
      const std::string name = fmt::format("{} {}", pool.name.substr(0, 7), slot);
      lines.push_back(
          fmt::format("{:<11} {}{}", name,
                      strip_of(overview, pool, slot, now - window, now, cells, screen.colours),
                      slot == 0 ? fmt::format(" {:>3.0f}%", 100 * pool.utilisation) : ""));
    }
  }
  const std::string back = duration_text(window) + " ago";
  lines.push_back(fmt::format("{:<12}{:<{}}now", "", back, cells - 3));
  return lines;
}

std::string headline(const Overview& overview) {
  std::map<client::JobState, int> counts;
  for (const JobStatus& job : overview.jobs) ++counts[job.state];
  std::string line = "policy " + overview.policy;
  for (const auto& [state, count] : counts) {
    line += fmt::format(", {} {}", count, client::to_string(state));
  }
  return line;
}

}  // namespace

std::string live_page(const Overview& overview, double now, const Screen& screen) {
  const auto numbers = numbers_of(overview);
  const std::vector<std::string> below = strips(overview, now, screen);
  // Ended jobs give way when there is too little room.
  std::vector<const JobStatus*> jobs;
  for (const bool ended : {false, true}) {
    for (const JobStatus& job : overview.jobs) {
      if (client::has_ended(job.state) == ended) jobs.push_back(&job);
    }
  }
  const std::size_t taken = below.size() + 4;
  const std::size_t room = screen.rows > taken + 2 ? screen.rows - taken : 2;
  std::string page = fmt::format("{}\n\n", fitting(headline(overview), screen.columns - 1));
  for (std::size_t i = 0; i < std::min(room, jobs.size()); ++i) {
    const auto number = numbers.find(jobs[i]->id);
    const std::string mark = number == numbers.end() ? " "
                                                     : painted(letter_of(number->second),
                                                               number->second, screen.colours);
    page += fmt::format("{} {}\n", mark, fitting(job_line(*jobs[i], now), screen.columns - 3));
  }
  if (jobs.size() > room) page += fmt::format("  … and {} more\n", jobs.size() - room);
  page += "\n";
  for (const std::string& line : below) page += line + "\n";
  return page;
}

}  // namespace attune::cli
