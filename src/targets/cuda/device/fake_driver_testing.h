// A fake driver with a fake card in place of CUDA's, for as long as this lives (test_driver).
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "base/built_path_testing.h"
#include "base/check.h"
#include "targets/cuda/device/image.h"
#include "targets/cuda/device/test_driver/fake_card.h"

namespace attune::cuda {

class FakeDriver {
 public:
  explicit FakeDriver(const std::string& path) {
    ::setenv("ATTUNE_LIBCUDA", path.c_str(), 1);
    ::setenv("ATTUNE_LIBNVML", path.c_str(), 1);
    void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    CHECK(library != nullptr, "the fake driver is built with the tests");
    const auto make = reinterpret_cast<FakeCard* (*)()>(::dlsym(library, "attune_new_fake_card"));
    card_ = make();
  }
  ~FakeDriver() { ::unsetenv("ATTUNE_LIBCUDA"); }
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;

  FakeCard& card() { return *card_; }
  // The n-th such call from now on fails.
  void fail(std::string_view call, int nth, CuResult result) {
    card_->failing_call = call;
    card_->failing_in = nth;
    card_->failure = result;
  }

 private:
  FakeCard* card_ = nullptr;
};

inline std::vector<std::byte> fake_code() {
  std::vector<std::byte> code;
  for (const char c : std::string_view("fake code")) code.push_back(static_cast<std::byte>(c));
  return code;
}

// What the fake card runs over so many floats: B = 2 A, in one launch or in two by way of scratch
// memory; C = A + B; and one that goes out of its memory.
inline KernelImage fake_kernel(const std::string& function, std::int64_t floats) {
  KernelImage image{function, "sm_90a"};
  image.cubin = fake_code();
  LaunchImage launch{function, {floats / 4, 1, 1}, {4, 1, 1}, 0, {}};
  launch.waits = function.ends_with("_waiting");
  image.parameters = function.starts_with("add") ? 3 : function == "fault" ? 1 : 2;
  for (std::int64_t i = 0; i < image.parameters; ++i) launch.arguments.push_back({false, i});
  image.launches = {launch};
  return image;
}
inline KernelImage fake_kernel_in_two(std::int64_t floats) {
  KernelImage image = fake_kernel("double_all", floats);
  image.symbol = "quadruple_all";
  image.scratch_bytes = 256 + 4 * floats;
  LaunchImage first = image.launches.front(), second = first;
  first.arguments[1] = {true, 256};
  second.arguments[0] = {true, 256};
  second.shared_bytes = 1000;
  image.launches = {first, second};
  return image;
}

inline std::vector<std::byte> fake_object(const std::vector<KernelImage>& images) {
  std::vector<std::byte> object;
  for (const KernelImage& image : images) {
    const std::vector<std::byte> bytes = write_image(image);
    object.insert(object.end(), bytes.begin(), bytes.end());
  }
  return object;
}

}  // namespace attune::cuda
