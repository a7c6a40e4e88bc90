// Code for a CUDA device as artifacts carry it. A kernel of ours is a few launches, one after the
// other; its image says which functions of its machine code they call, in which shape and on what.
// Several images stand one after the other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace attune::cuda {

// An address that a launch is given: a parameter of the kernel, or a place of its scratch memory.
struct Argument {
  bool scratch = false;
  std::int64_t at = 0;  // the parameter's number, or bytes from where scratch memory begins
};

// How a launch makes room for the one behind it: that may begin when this one has ended, when all
// its blocks have begun (early), when they have computed what they will write (mid), or when they
// have ended, whether or not what they wrote can be seen yet (end). Blocks that are alone on a
// multiprocessor do not pile up where others have just ended.
enum class Overlap : std::uint8_t { None, Early, Mid, End };
struct Way {
  Overlap overlap = Overlap::None;
  bool alone = false;
};
// Images and those who tune say which by its number.
inline constexpr std::array<Way, 6> kWays = {{{Overlap::None, false},
                                              {Overlap::Early, false},
                                              {Overlap::Mid, false},
                                              {Overlap::End, false},
                                              {Overlap::Early, true},
                                              {Overlap::Mid, true}}};
inline constexpr std::size_t kWaysTogether = 4;  // the first so many, where blocks share

struct LaunchImage {
  std::string function;
  std::array<std::int64_t, 3> grid{1, 1, 1};   // blocks: x, y, z
  std::array<std::int64_t, 3> block{1, 1, 1};  // threads of a block
  std::int64_t shared_bytes = 0;               // asked for at launch
  std::vector<Argument> arguments = {};
  // Its function waits for the work before it by itself, before it touches any memory, and takes
  // an Overlap, an int, behind the arguments.
  bool waits = false;
  std::int64_t way = 0;  // of kWays; others than the first only where it waits
};

struct KernelImage {
  std::string symbol;
  std::string architecture;  // that the machine code is for: "sm_90a"
  std::int64_t parameters = 0;
  std::int64_t scratch_bytes = 0;  // global memory that its launches hand over in
  std::vector<LaunchImage> launches = {};
  std::vector<std::byte> cubin = {};
  std::string ptx = {};  // for newer cards; empty: there is none
};

std::vector<std::byte> write_image(const KernelImage& image);
// All of them, with every number checked: counts, extents, sizes and places. An error says which.
Result<std::vector<KernelImage>> read_images(std::span<const std::byte> bytes);

}  // namespace attune::cuda
