// The few types and numbers of CUDA's driver interface that are used here, as its binary interface
// has them; so nothing of CUDA is needed to build.
#pragma once

#include <cstddef>
#include <cstdint>

namespace attune::cuda {

using CuResult = int;
using CuDevice = int;
using CuAddress = unsigned long long;  // in a device's memory
using CuContext = struct CuContextState*;
using CuModule = struct CuModuleState*;
using CuFunction = struct CuFunctionState*;
using CuStream = struct CuStreamState*;
using CuEvent = struct CuEventState*;
using CuGraph = struct CuGraphState*;
using CuGraphExec = struct CuGraphExecState*;

// A property of a launch besides its shape: an identifier, and a value of up to 64 bytes.
struct CuLaunchAttribute {
  int id = 0;
  int padding = 0;
  alignas(8) int value[16] = {};
};
struct CuLaunch {
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
  CuStream stream = nullptr;
  CuLaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};

// Results with a hint of their own; others are told by CUDA's words.
inline constexpr CuResult kSuccess = 0, kOutOfMemory = 2, kNotInitialized = 3, kNoDevice = 100,
                          kInvalidImage = 200, kNoBinaryForGpu = 209, kUnsupportedPtx = 222,
                          kNotReady = 600, kIllegalAddress = 700, kLaunchFailed = 719,
                          kDriverMismatch = 803;

// Attributes of devices.
inline constexpr int kClockKhz = 13, kMultiprocessors = 16, kMemoryClockKhz = 36,
                     kMemoryBusBits = 37, kL2Bytes = 38, kMajor = 75, kMinor = 76,
                     kSharedBytesOfMultiprocessor = 81, kSharedBytesOfBlock = 97;
// Attributes of functions.
inline constexpr int kStaticSharedBytes = 1, kMostDynamicSharedBytes = 8;
// An attribute of launches: it may begin before the launch in front of it has ended.
inline constexpr int kMayBeginEarly = 6;
// An option of loading modules: where to put what went wrong, and how many bytes there are.
inline constexpr int kJitErrorLog = 5, kJitErrorLogBytes = 6;

inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kHostPortable = 1, kHostMapped = 2;
inline constexpr int kCaptureThisThread = 1;
inline constexpr unsigned kWaitForAtLeast = 0;

}  // namespace attune::cuda
