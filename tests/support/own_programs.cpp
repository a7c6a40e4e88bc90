#include "tests/support/own_programs.h"

namespace attune::test {
namespace {

constexpr const char* kStencils = R"(program stencils {
  input a: f32[23, 9]
  stage first(x: 21, y: 9) = a[x, y] + a[x + 2, y] * 0.5f32
  stage second(x: 19, y: 8) = first[x, y] + first[x + 2, y + 1]
  stage third(x: 17, y: 8) = second[x, y] * second[x + 1, y] - second[x + 2, y]
  stage 'output'(x: 8, y: 7) = third[x * 2, y] + third[x * 2 + 2, y + 1]
  output 'output'
}
)";

constexpr const char* kReaders = R"(program readers {
  input a: f32[16, 5]
  constant w: f32[5, 6]
  stage first(x: 16, k: 5) = a[x, k] + 1.0f32
  stage left(x: 12, j: 6) = sum(k: 5) first[x, k] * w[k, j]
  stage right(x: 12, j: 6) = max(k: 5) first[x + 3, k] * w[k, j]
  stage total(j: 6) = sum(x: 12) left[x, j]
  stage 'output'(x: 12, j: 6) = left[x, j] + right[x, j] * total[j] + first[x + 1, 2]
  output total
  output 'output'
}
)";

constexpr const char* kOdd = R"(program odd {
  input a: f32[14, 6]
  stage first(x: 14, y: 6) = a[x, y] * 2.0f32
  stage second(x: 14, y: 6) = first[13 - x, y] + first[x, 5 - y]
  stage halves(x: 13, y: 6) = second[x / 2, y] + second[x % 5 + 1, y]
  stage 'output'(x: 11, y: 5) = halves[x + 2, y + 1] + halves[10 - x, y]
  output 'output'
}
)";

constexpr const char* kPairs = R"(program pairs {
  input a: i32[7, 11]
  stage scaled(i: 7, j: 11) = a[i, j] * 3i32
  stage best(i: 7) = argmax(j: 11) (scaled[i, j], j)
  stage least(j: 11) = argmin(i: 7) (scaled[i, j], i)
  stage 'output'(i: 7, j: 11) = select(best.index[i] == j, scaled[i, j], least[j])
  output best.index
  output 'output'
}
)";

constexpr const char* kMasked = R"(program masked {
  input a: f32[9, 13]
  input mask: i32[13]
  stage kept(i: 9) = sum(k: 13) select(mask[k] > 0i32, a[i, k], 0.0f32)
  stage most(i: 9) = max(k: 13) select(mask[k] > 0i32, a[i, k], -inf:f32)
  stage padded(i: 9, j: 15) = select(1 <= j && j < 14, a[i, j - 1], 0.0f32)
  stage window(i: 9, j: 13) = sum(k: 3) padded[i, j + k]
  stage 'output'(i: 9, j: 13) = window[i, j] + kept[i] * select(most[i] > 0.5f32, 1.0f32, 0.25f32)
  output 'output'
}
)";

constexpr const char* kChain = R"(program chain {
  input a: f32[6, 7]
  constant u: f32[7, 10]
  constant v: f32[10, 5]
  stage packed(k: 10, j: 5) = v[k, j] * 0.5f32
  stage hidden(i: 6, j: 10) = sum(k: 7) a[i, k] * u[k, j]
  stage active(i: 6, j: 10) = max(hidden[i, j], 0.0f32)
  stage result(i: 6, j: 5) = sum(k: 10) active[i, k] * packed[k, j]
  stage norm(i: 6) = sum(j: 5) result[i, j] * result[i, j]
  stage 'output'(i: 6, j: 5) = result[i, j] / (norm[i] + 1.0f32)
  output 'output'
}
)";

constexpr const char* kScalar = R"(program scalar {
  input a: f32[37]
  input s: f32[]
  stage sum() = sum(k: 37) a[k] * s[]
  stage 'output'(x: 37) = a[x] - sum[]
  output 'output'
}
)";

constexpr const char* kBlocked = R"(program blocked {
  input a: f32[1, 20, 5, 6]
  stage packed(n: 1, c: 3, h: 5, w: 6, b: 8) = select(c * 8 + b < 20, a[n, c * 8 + b, h, w], 0.0f32)
  stage left(n: 1, c: 5, h: 5, w: 6, b: 8) = select(c < 3, packed[n, c, h, w, b], )"
                                 R"(packed[n, c - 3, h, w, 7 - b])
  stage joined(n: 1, c: 5, h: 7, w: 8, b: 8) = select(1 <= h && h < 6 && 1 <= w && w < 7, )"
                                 R"(left[n, c, h - 1, w - 1, b], 0.5f32)
  stage 'output'(n: 1, c: 35, h: 7, w: 8) = joined[n, c / 8, h, w, c % 8] * 2.0f32
  output 'output'
}
)";

constexpr const char* kGathered = R"(program gathered {
  input table: f32[12, 9]
  input index: i64[2, 7]
  constant position: f32[7, 9]
  stage row(n: 2, s: 7) = max(min(index[n, s] + 4, 11), 0)
  stage embedded(n: 2, s: 7, d: 9) = table[row[n, s], d] + position[s, d]
  stage mean(n: 2, s: 7, o: 1) = sum(d: 9) embedded[n, s, d] * 0.1f32
  stage centred(n: 2, s: 7, d: 9) = embedded[n, s, d] - mean[n, s, 0]
  stage square(n: 2, s: 7, o: 1) = sum(d: 9) centred[n, s, d] * centred[n, s, d]
  stage 'output'(n: 2, s: 7, d: 9) = centred[n, s, d] * rsqrt(square[n, s, 0] + 0.01f32)
  output 'output'
}
)";

constexpr const char* kReduced = R"(program reduced {
  input a: f32[4, 6, 18]
  stage total() = sum(i: 4, j: 6, k: 18) a[i, j, k]
  stage middle(i: 4, k: 18) = max(j: 6) a[i, j, k]
  stage outer(j: 6, k: 18) = sum(i: 4) a[i, j, k]
  stage inner(i: 4, o: 1, p: 1) = sum(j: 6, k: 18) a[i, j, k]
  stage best(i: 4, k: 18) = argmax(j: 6) (a[i, j, k], j)
  stage soft(i: 4, j: 6, k: 18) = exp(a[i, j, k] - middle[i, k]) + outer[j, k] * total[]
  stage 'output'(i: 4, j: 6, k: 18) = soft[i, j, k] + select(best.index[i, k] == j, )"
                                 R"(inner[i, 0, 0], 0.0f32)
  output 'output'
}
)";

constexpr const char* kScalars = R"(program scalars {
  input a: f32[]
  input b: f32[1, 1]
  stage sum() = a[] + b[0, 0]
  stage 'output'(i: 1, j: 1, k: 1) = sum[] * b[i, j]
  output 'output'
}
)";

constexpr const char* kVolume = R"(program volume {
  input a: f32[1, 3, 5, 6, 7]
  constant w: f32[4, 3, 2, 2, 2]
  input scale: f32[1, 4, 1, 1, 1]
  stage anchor(n: 1, o: 4, d: 4, h: 5, x: 6) = sum(c: 3, kd: 2, kh: 2, kw: 2) a[n, c, d + )"
                                R"(kd, h + kh, x + kw] * w[o, c, kd, kh, kw]
  stage scaled(n: 1, o: 4, d: 4, h: 5, x: 6) = anchor[n, o, d, h, x] * scale[n, o, 0, 0, 0]
  stage 'output'(n: 1, o: 4, d: 2, h: 2, x: 3) = max(kd: 2, kh: 2, kw: 2) scaled[n, o, d )"
                                R"(* 2 + kd, h * 2 + kh, x * 2 + kw]
  output 'output'
}
)";

constexpr const char* kSeen = R"(program seen {
  input x: f32[11, 13]
  input v: f32[13, 5]
  stage s(i: 11, k: 13) = select(k <= i + 1 && i <= k + 6, x[i, k] * 0.5f32, -inf:f32)
  stage m(i: 11) = max(k: 13) select(k <= i + 1 && i <= k + 6, s[i, k], -inf:f32)
  stage e(i: 11, k: 13) = select(k <= i + 1 && i <= k + 6, exp(s[i, k] - m[i]), 0.0f32)
  stage t(i: 11) = sum(k: 13) select(k <= i + 1 && i <= k + 6, e[i, k], 0.0f32)
  stage anchor(i: 11, j: 5) = sum(k: 13) select(k <= i + 1 && i <= k + 6, e[i, k] * v[k, j], )"
                              R"(0.0f32)
  stage 'output'(i: 11, j: 5) = anchor[i, j] / t[i]
  output 'output'
}
)";

constexpr const char* const kAll[] = {kStencils, kReaders, kOdd,     kPairs,    kMasked,
                                      kChain,    kScalar,  kBlocked, kGathered, kReduced,
                                      kScalars,  kVolume,  kSeen};

}  // namespace

std::span<const char* const> own_programs() { return kAll; }

}  // namespace attune::test
