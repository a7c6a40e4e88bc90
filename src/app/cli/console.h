// What the program says: results on standard output, everything else (notes, progress, errors) on
// standard error.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace attune::cli {

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

  // A line that is written over by the next; only where is_terminal().
  void progress_line(std::string_view line);
  void end_progress_line();
  // Takes it away instead.
  void clear_progress_line();
  bool is_terminal() const { return terminal_; }

  void set_quiet(bool quiet) { quiet_ = quiet; }
  void set_verbose(bool verbose) { verbose_ = verbose; }
  bool quiet() const { return quiet_; }
  bool verbose() const { return verbose_; }

 private:
  bool quiet_ = false;
  bool verbose_ = false;
  bool terminal_ = false;  // standard error is one
  bool line_open_ = false;
};

}  // namespace attune::cli
