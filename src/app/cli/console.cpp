#include "app/cli/console.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>

#include "app/cli/printable.h"
#include "app/cli/text_width.h"

namespace attune::cli {
namespace {

// 0, or the errno of the failed write.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

// What cannot be said on standard error can be said nowhere.
void complain(const std::string& text) { (void)write_all(STDERR_FILENO, text); }

Screen terminal_size(int descriptor) {
  winsize size = {};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col < 20 || size.ws_row < 5) return {};
  return {.columns = size.ws_col, .rows = size.ws_row};
}

}  // namespace

std::string_view fitting(std::string_view text, std::size_t columns) {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool starts = (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80;
    if (starts && seen++ == columns) return text.substr(0, i);
  }
  return text;
}

Console::Console() {
  // Opened for the direction that is never used, so that using them still fails.
  for (int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    (void)::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
  // Instead of a signal, what is written beyond a limit fails with an error.
  for (int number : {SIGPIPE, SIGXFSZ}) ::signal(number, SIG_IGN);
  terminal_ = ::isatty(STDERR_FILENO) == 1;
  output_terminal_ = ::isatty(STDOUT_FILENO) == 1;
}

Status Console::print(std::string_view text) {
  end_progress_line();
  const int failure = write_all(STDOUT_FILENO, text);
  if (failure == 0 || failure == EPIPE) return {};
  if (failure == ENOSPC || failure == EDQUOT || failure == EFBIG) {
    return Error{ErrorCode::Exhausted, "cannot write to standard output: the disk is full",
                 "free some space, or send the output elsewhere"};
  }
  std::string reason = failure == EBADF ? "it is closed" : std::strerror(failure);
  reason[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(reason[0])));
  return Error{ErrorCode::Io, fmt::format("cannot write to standard output: {}", reason), {}};
}

Screen Console::screen() const { return terminal_size(STDOUT_FILENO); }

Status Console::redraw(const std::string& page) {
  const std::string back = drawn_lines_ > 0 ? fmt::format("\033[{}A\r\033[J", drawn_lines_) : "";
  drawn_lines_ = static_cast<std::size_t>(std::count(page.begin(), page.end(), '\n'));
  return print(back + page);
}

void Console::note(std::string_view line) {
  if (quiet_) return;
  end_progress_line();
  complain(printable(line) + "\n");
}

void Console::detail(std::string_view line) {
  if (verbose_) note(line);
}

void Console::error(const Error& error) {
  end_progress_line();
  std::string text = fmt::format("attune: error: {}\n", one_line(error.message));
  if (!error.hint.empty()) text += fmt::format("hint: {}\n", one_line(error.hint));
  complain(text);
}

Screen Console::progress_screen() const { return terminal_size(STDERR_FILENO); }

std::string Console::back_to_first_line() {
  // A terminal that became narrower has wrapped them.
  const std::size_t columns = progress_screen().columns;
  std::size_t rows = 0;
  for (const std::size_t length : drawn_) {
    rows += std::max<std::size_t>(1, (length + columns - 1) / columns);
  }
  drawn_.clear();
  return rows == 0 ? "\r" : fmt::format("\r\033[{}A", rows);
}

void Console::progress_lines(const std::vector<std::string>& lines) {
  if (quiet_) return;
  end_open_line();
  const std::size_t columns = progress_screen().columns;
  // In one piece, and each line over the old one: nothing flickers.
  std::string text = back_to_first_line();
  for (const std::string& line : lines) {
    const std::string shown = shortened(one_line(line), columns - 1);
    text += shown + "\033[K\n";
    drawn_.push_back(text_columns(shown));
  }
  complain(text + "\033[J");
}

void Console::progress_line(std::string_view line) {
  if (quiet_) return;
  complain(fmt::format("\r\033[K{}", fitting(line, terminal_size(STDERR_FILENO).columns - 1)));
  line_open_ = true;
}

void Console::clear_progress_line() {
  if (line_open_) complain("\r\033[K");
  line_open_ = false;
  if (!drawn_.empty()) complain(back_to_first_line() + "\033[J");
}

void Console::end_open_line() {
  if (line_open_) complain("\n");
  line_open_ = false;
}

void Console::end_progress_line() {
  end_open_line();
  drawn_.clear();
}

}  // namespace attune::cli
