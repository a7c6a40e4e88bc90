// Lines of C with their indentation.
#pragma once

#include <string>
#include <string_view>

namespace attune::c_text {

// The text without parentheses around all of it.
std::string unwrapped(const std::string& text);

class Text {
 public:
  explicit Text(int depth = 0) : depth_(depth) {}

  void line(std::string_view words) {
    if (!words.empty()) out_.append(2 * static_cast<std::size_t>(depth_), ' ');
    out_ += words;
    out_ += '\n';
  }
  // "HEAD {", and what follows one step in, until close().
  void open(std::string_view head) {
    line(head.empty() ? std::string("{") : std::string(head) + " {");
    ++depth_;
  }
  void close(std::string_view tail = "}") {
    --depth_;
    line(tail);
  }
  // Lines made elsewhere, at the depth they were made for.
  void append(const Text& other) { out_ += other.out_; }
  bool empty() const { return out_.empty(); }
  int depth() const { return depth_; }
  const std::string& str() const { return out_; }

 private:
  std::string out_;
  int depth_;
};

}  // namespace attune::c_text
