#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "targets/cpu/codegen/compiled_kernel_testing.h"

namespace attune::cpu {
namespace {

using ir::Expr;
using ir::kF32;

// Floats between two pages that cannot be touched: a load outside of them crashes. They end at the
// second page and start at a multiple of 64 bytes.
class FencedFloats {
 public:
  explicit FencedFloats(std::size_t count) {
    page_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t bytes = count * sizeof(float);
    CHECK(bytes <= page_ && page_ % bytes == 0, "the array must fill whole parts of a page");
    memory_ =
        static_cast<char*>(mmap(nullptr, 3 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    CHECK(memory_ != MAP_FAILED, "mmap failed");
    CHECK(mprotect(memory_ + page_, page_, PROT_READ | PROT_WRITE) == 0, "mprotect failed");
    at_end = reinterpret_cast<float*>(memory_ + 2 * page_ - bytes);
    at_start = reinterpret_cast<float*>(memory_ + page_);
  }
  ~FencedFloats() { munmap(memory_, 3 * page_); }
  FencedFloats(const FencedFloats&) = delete;
  FencedFloats& operator=(const FencedFloats&) = delete;

  float* at_end;    // the page behind is forbidden
  float* at_start;  // the page before is forbidden

 private:
  char* memory_;
  std::size_t page_;
};

// y[i] = 0 <= i + shift < n ? x[i + shift] : -1, with a guard in every lane.
ir::Kernel shifted_copy(std::int64_t n, std::int64_t shift, int lanes, std::int64_t stride = 1) {
  const auto x = ir::make_buffer("x", kF32, {n}), y = ir::make_buffer("y", kF32, {n});
  const Expr first = ir::var("i") * Expr(lanes);
  const Expr index = lanes == 1 ? first : ir::ramp(first, Expr(1), lanes);
  const auto wide = [&](std::int64_t v) {
    return lanes == 1 ? Expr(v) : ir::broadcast(Expr(v), lanes);
  };
  const Expr at = index * wide(stride) + wide(shift);
  const Expr inside = at >= wide(0) && at < wide(n);
  const Expr outside = lanes == 1 ? ir::float_imm(-1) : ir::broadcast(ir::float_imm(-1), lanes);
  return {"shifted",
          {x, y},
          ir::for_loop("i", 0, n / lanes,
                       ir::store(y, {index}, ir::select(inside, ir::load(x, {at}), outside)))};
}

TEST(Memory, GuardedLoadsStayInside) {
  const std::int64_t n = 256;
  for (const std::string cpu : {"", "x86-64", "znver3"}) {
    const target::Target target = cpu.empty() ? host_target() : cpu_target(cpu);
    for (const int lanes : {1, 4, 8, 16}) {
      for (const auto& [shift, stride] :
           {std::pair(5, 1), std::pair(-3, 1), std::pair(200, 1), std::pair(-200, 1),
            std::pair(1, 2), std::pair(100, -1), std::pair(3, 5)}) {
        LoadedKernel kernel(shifted_copy(n, shift, lanes, stride), target);
        FencedFloats x(n);
        Array<float> y(n);
        for (float* data : {x.at_end, x.at_start}) {
          for (int i = 0; i < n; ++i) data[i] = static_cast<float>(i);
          kernel.run({data, y.data()});
          for (int i = 0; i < n; ++i) {
            const int at = i * stride + shift;
            ASSERT_EQ(y[i], at >= 0 && at < n ? at : -1) << lanes << " lanes, shift " << shift;
          }
        }
      }
    }
  }
}

// Masked or not, an address that is not mapped takes a processor hundreds of cycles.
TEST(Memory, VectorsThatLieOutsideAltogetherAreNotLoadedFromThere) {
  const auto takes_another_address = [](std::int64_t shift) {
    const std::string text = emit_llvm(shifted_copy(256, shift, 16), cpu_target("znver4")).value();
    const std::size_t load = text.find("llvm.masked.load");
    return load != std::string::npos && text.rfind("select i1", load) != std::string::npos;
  };
  EXPECT_TRUE(takes_another_address(200));
  EXPECT_TRUE(takes_another_address(-200));
  EXPECT_FALSE(takes_another_address(-3));
}

TEST(Memory, GuardedBroadcastLoadsOnlyWhenSomeLaneWants) {
  // Lane l of step i takes x[16 * i] when i * 4 + l < 8: from i = 2 on no lane does.
  const std::int64_t n = 32;
  const auto x = ir::make_buffer("x", kF32, {n}), y = ir::make_buffer("y", kF32, {16});
  const Expr i = ir::var("i");
  const Expr index = ir::ramp(i * Expr(4), Expr(1), 4);
  const Expr value = ir::select(index < ir::broadcast(Expr(8), 4),
                                ir::broadcast(ir::load(x, {i * Expr(16384)}), 4),
                                ir::broadcast(ir::float_imm(-1), 4));
  LoadedKernel kernel({"uniform", {x, y}, ir::for_loop("i", 0, 4, ir::store(y, {index}, value))});
  std::vector<float> big(16385 + 64, 3.0f);
  Array<float> out(16);
  float* aligned = big.data() + (16 - reinterpret_cast<std::uintptr_t>(big.data()) / 4 % 16) % 16;
  kernel.run({aligned, out.data()});
  for (int u = 0; u < 16; ++u) EXPECT_EQ(out[u], u < 8 ? 3 : -1);
}

TEST(Memory, ScalarGuardOfAVector) {
  // The whole vector is loaded, or none of it: rows 0 and 3 of 4 lie outside of x.
  const int lanes = 16;
  const auto x = ir::make_buffer("x", kF32, {2 * lanes});
  const auto y = ir::make_buffer("y", kF32, {4 * lanes});
  const Expr r = ir::var("r");
  const Expr row = ir::load(x, {ir::ramp((r - Expr(1)) * Expr(lanes), Expr(1), lanes)});
  const Expr inside = r >= Expr(1) && r < Expr(3);
  const Expr value =
      ir::select(ir::broadcast(inside, lanes), row, ir::zero_of(kF32.with_lanes(lanes)));
  LoadedKernel kernel(
      {"rows",
       {x, y},
       ir::for_loop("r", 0, 4, ir::store(y, {ir::ramp(r * Expr(lanes), Expr(1), lanes)}, value))});
  FencedFloats in(2 * lanes);
  Array<float> out(4 * lanes, -1);
  for (float* data : {in.at_end, in.at_start}) {
    for (int i = 0; i < 2 * lanes; ++i) data[i] = 7;
    kernel.run({data, out.data()});
    for (int i = 0; i < 4 * lanes; ++i) EXPECT_EQ(out[i], i / lanes == 1 || i / lanes == 2 ? 7 : 0);
  }
}

TEST(Memory, StridedLoadsAndStores) {
  const int lanes = 8;
  for (const int stride : {-1, 0, 2, 3, 4, 5, 16}) {
    const std::int64_t n = 128;
    const auto x = ir::make_buffer("x", kF32, {n}), y = ir::make_buffer("y", kF32, {lanes}),
               z = ir::make_buffer("z", kF32, {n});
    // The accessed elements end exactly at the end of the buffer (or start at its beginning).
    const std::int64_t first = stride < 0 ? lanes - 1 : n - 1 - (lanes - 1) * stride;
    const Expr at = ir::ramp(Expr(first) + ir::var("i"), Expr(stride), lanes);
    const Expr all = ir::ramp(Expr(0), Expr(1), lanes);
    ir::Stmt body = ir::store(y, {all}, ir::load(x, {at}));
    if (stride != 0) body = ir::block({body, ir::store(z, {at}, ir::load(y, {all}))});
    LoadedKernel kernel({"strided", {x, y, z}, ir::for_loop("i", 0, 1, body)});
    FencedFloats in(n);
    float* data = stride < 0 ? in.at_start : in.at_end;
    for (int i = 0; i < n; ++i) data[i] = static_cast<float>(i);
    Array<float> out(lanes), scattered(n, -1);
    kernel.run({data, out.data(), scattered.data()});
    for (int l = 0; l < lanes; ++l) {
      EXPECT_EQ(out[l], first + l * stride) << "stride " << stride;
      if (stride == 0) continue;
      EXPECT_EQ(scattered[first + l * stride], first + l * stride);
    }
  }
}

TEST(Memory, GathersByIndexVectors) {
  const std::int64_t n = 32;
  const auto x = ir::make_buffer("x", kF32, {n}), p = ir::make_buffer("p", ir::kI64, {n}),
             y = ir::make_buffer("y", kF32, {n}), z = ir::make_buffer("z", kF32, {n});
  const Expr index = ir::ramp(ir::var("i") * Expr(8), Expr(1), 8);
  const Expr where = ir::load(p, {index});
  LoadedKernel kernel({"gather",
                       {x, p, y, z},
                       ir::for_loop("i", 0, n / 8,
                                    ir::block({ir::store(y, {index}, ir::load(x, {where})),
                                               ir::store(z, {where}, ir::load(x, {index}))}))});
  Array<float> in(n), gathered(n), scattered(n);
  Array<std::int64_t> places(n);
  for (int i = 0; i < n; ++i) in[i] = static_cast<float>(i), places[i] = (i * 5 + 3) % n;
  kernel.run({in.data(), places.data(), gathered.data(), scattered.data()});
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(gathered[i], places[i]);
    EXPECT_EQ(scattered[places[i]], i);
  }
}

TEST(Memory, MixedLanesOfARegisterBuffer) {
  // Written as one vector of 8, read as two of 4 and as scalars.
  const auto x = ir::make_buffer("x", kF32, {8}), y = ir::make_buffer("y", kF32, {16});
  const auto t = ir::make_buffer("t", kF32, {8}, ir::Scope::Register);
  const Expr eight = ir::ramp(Expr(0), Expr(1), 8);
  std::vector<ir::Stmt> body{ir::store(t, {eight}, ir::load(x, {eight}))};
  for (const int half : {0, 4}) {
    body.push_back(ir::store(y, {ir::ramp(Expr(4 - half), Expr(1), 4)},
                             ir::load(t, {ir::ramp(Expr(half), Expr(1), 4)})));
  }
  for (int i = 0; i < 8; ++i) body.push_back(ir::store(y, {Expr(15 - i)}, ir::load(t, {Expr(i)})));
  LoadedKernel kernel({"mixed", {x, y}, ir::allocate(t, ir::block(body))});
  Array<float> in(8), out(16);
  for (int i = 0; i < 8; ++i) in[i] = static_cast<float>(i);
  kernel.run({in.data(), out.data()});
  for (int i = 0; i < 8; ++i) EXPECT_EQ(out[i], (i + 4) % 8);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(out[15 - i], i);
}

// Eleven lanes of a private array are loaded as sixteen; the others must not be what the stack held
// before, which may be numbers that processors are slow with.
TEST(Memory, OddVectorsOnTheStackHaveNothingBehindThem) {
  const auto text_of = [](int lanes) {
    const auto x = ir::make_buffer("x", kF32, {11 * 64}), y = ir::make_buffer("y", kF32, {11});
    const auto t = ir::make_buffer("t", kF32, {16 * 64}, ir::Scope::Stack);
    const Expr i = ir::var("i");
    const auto at = [&](std::int64_t row) { return ir::ramp(i * Expr(row), Expr(1), lanes); };
    const Expr sum = ir::load(t, {at(16)}) + ir::load(y, {ir::ramp(Expr(0), Expr(1), lanes)});
    const ir::Kernel kernel{
        "odd",
        {x, y},
        ir::allocate(
            t, ir::block({ir::for_loop("i", 0, 64, ir::store(t, {at(16)}, ir::load(x, {at(11)}))),
                          ir::for_loop("i", 0, 64, ir::store(y, {at(0)}, sum))}))};
    return emit_llvm(kernel, host_target()).value();
  };
  EXPECT_NE(text_of(11).find("llvm.memset.inline"), std::string::npos);
  EXPECT_EQ(text_of(8).find("llvm.memset.inline"), std::string::npos);
}

TEST(Memory, BoolsTakeAByte) {
  const std::int64_t n = 16;
  Array<float> x(n);
  Array<bool> y(n);
  for (int i = 0; i < n; ++i) x[i] = static_cast<float>(i - 8);
  LoadedKernel kernel(
      elementwise(kF32, ir::kBool, n, 8, [](Expr v) { return v > ir::zero_of(v.type()); }));
  kernel.run({x.data(), y.data()});
  for (int i = 0; i < n; ++i) EXPECT_EQ(y[i], i > 8);
}

TEST(Memory, LoopsWithoutIterations) {
  const auto n = ir::make_buffer("n", ir::kI64, {1}), y = ir::make_buffer("y", kF32, {4});
  const Expr i = ir::var("i");
  LoadedKernel kernel(
      {"dynamic",
       {n, y},
       ir::let("count", ir::load(n, {Expr(0)}),
               ir::for_loop("i", 0, ir::var("count"), ir::store(y, {i}, ir::float_imm(1))))});
  for (const std::int64_t count : {0, 3, -2}) {
    Array<std::int64_t> extent(1, count);
    Array<float> out(4, 0);
    kernel.run({extent.data(), out.data()});
    for (int j = 0; j < 4; ++j) EXPECT_EQ(out[j], j < count ? 1 : 0);
  }
}

}  // namespace
}  // namespace attune::cpu
