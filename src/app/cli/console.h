// What the program says: results on standard output, everything else (notes, progress, errors) on
// standard error.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace attune::cli {

// The first `columns` characters of UTF-8 text.
std::string_view fitting(std::string_view text, std::size_t columns);

// A terminal.
struct Screen {
  std::size_t columns = 80, rows = 24;
  bool colours = false;
};

class Console {
 public:
  // Opens standard descriptors that the caller left closed, so that no file of ours takes their
  // place and receives what is printed.
  Console();

  // A result. When the reader of a pipe has gone, it has all it wanted, and that is no error.
  Status print(std::string_view text);
  // One line about what is being done, unless the user asked for quiet.
  void note(std::string_view line);
  // More of it, when the user asked for that.
  void detail(std::string_view line);
  // "attune: error: …" and "hint: …".
  void error(const Error& error);

  // Lines that are written over by the next; only where is_terminal(). The cursor waits below them
  // and stays visible, so that whatever ends the program leaves the terminal as it should be.
  void progress_lines(const std::vector<std::string>& lines);
  // One line, with the cursor at its end.
  void progress_line(std::string_view line);
  void end_progress_line();
  // Takes them away instead.
  void clear_progress_line();
  bool is_terminal() const { return terminal_; }
  Screen progress_screen() const;  // the size of where progress is shown

  // A page of results that the next one takes the place of; only where output_is_terminal().
  Status redraw(const std::string& page);
  bool output_is_terminal() const { return output_terminal_; }
  Screen screen() const;  // its size

  void set_quiet(bool quiet) { quiet_ = quiet; }
  void set_verbose(bool verbose) { verbose_ = verbose; }
  bool quiet() const { return quiet_; }
  bool verbose() const { return verbose_; }

 private:
  void end_open_line();
  // What moves the cursor to where the progress lines begin; they count as gone.
  std::string back_to_first_line();

  bool quiet_ = false;
  bool verbose_ = false;
  bool terminal_ = false;         // standard error is one
  bool output_terminal_ = false;  // standard output is one
  bool line_open_ = false;
  std::vector<std::size_t> drawn_;  // characters of the progress lines that stand above the cursor
  std::size_t drawn_lines_ = 0;     // of the page that redraw() takes away
};

}  // namespace attune::cli
