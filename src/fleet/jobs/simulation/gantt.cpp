#include "fleet/jobs/simulation/gantt.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace attune::jobs {
namespace {

constexpr double kWidth = 1200, kLeft = 90, kTop = 40, kRow = 22, kGap = 4;

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '&')
      safe += "&amp;";
    else if (c == '"')
      safe += "&quot;";
    else
      safe += c;
  }
  return safe;
}

// Far apart for neighbours: multiples of the golden angle.
std::string colour_of(JobIndex job) {
  return fmt::format("hsl({:.0f},62%,58%)", static_cast<double>((job * 137) % 360));
}

// Rows in the order of pools and slots.
std::map<std::pair<std::uint32_t, int>, std::size_t> rows_of(const SimulatedRun& run) {
  std::map<std::pair<std::uint32_t, int>, std::size_t> rows;
  for (const Bar& bar : run.bars) {
    for (const int slot : bar.slots) rows[{bar.pool, slot}] = 0;
  }
  std::size_t next = 0;
  for (auto& [place, row] : rows) row = next++;
  return rows;
}

}  // namespace

std::string gantt_svg(const Experiment& experiment, const SimulatedRun& run,
                      const std::string& title) {
  const auto rows = rows_of(run);
  const double height = kTop + static_cast<double>(rows.size()) * (kRow + kGap) + 30;
  const double scale = (kWidth - kLeft - 10) / std::max(run.makespan, 1e-9);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{:.0f}\" y=\"20\" font-size=\"14\">{}</text>\n",
      kWidth, height, kLeft, escaped(title));
  const auto top_of = [](std::size_t row) {
    return kTop + static_cast<double>(row) * (kRow + kGap);
  };
  for (const auto& [place, row] : rows) {
    svg += fmt::format("<text x=\"4\" y=\"{:.0f}\">{} {}</text>\n", top_of(row) + 15,
                       escaped(experiment.pools[place.first].name), place.second);
  }
  for (const Bar& bar : run.bars) {
    const MockJob& job = experiment.jobs[bar.job];
    for (const int slot : bar.slots) {
      svg += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{:.0f}\" width=\"{:.2f}\" height=\"{:.0f}\" fill=\"{}\">"
          "<title>{} {}: {:.1f} s to {:.1f} s</title></rect>\n",
          kLeft + bar.begin * scale, top_of(rows.at({bar.pool, slot})),
          (bar.end - bar.begin) * scale, kRow, colour_of(bar.job), escaped(job.name),
          escaped(job.kind(bar.kind).name), bar.begin, bar.end);
    }
  }
  svg += fmt::format(
      "<line x1=\"{0:.2f}\" x2=\"{0:.2f}\" y1=\"{1:.0f}\" y2=\"{2:.0f}\" stroke=\"black\" "
      "stroke-dasharray=\"4 3\"/>\n<text x=\"{0:.2f}\" y=\"{3:.0f}\" text-anchor=\"end\">lower "
      "bound {4:.0f} s, makespan {5:.0f} s</text>\n</svg>\n",
      kLeft + run.lower_bound * scale, kTop - 6, height - 26, height - 8, run.lower_bound,
      run.makespan);
  return svg;
}

}  // namespace attune::jobs
