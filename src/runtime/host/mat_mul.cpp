// MatMul: products of matrices in the last two axes, the others broadcast; a vector on either side
// is a matrix of one row or column. Floats are summed in double; products of integers of 8 bits,
// which may differ in sign, and of 16 are i32.
#include "runtime/host/elements.h"
#include "runtime/host/list.h"
#include "runtime/host/strides.h"
#include "runtime/memory/tensor.h"

namespace attune::runtime::host {
namespace {

template <typename T>
std::vector<T> load_all(const HostTensor& tensor) {
  std::vector<T> values(static_cast<std::size_t>(tensor.shape.elements()));
  if constexpr (std::is_same_v<T, double>) {
    load_reals(values.data(), tensor, 0, 1, std::ssize(values));
  } else {
    load_integers(reinterpret_cast<std::int64_t*>(values.data()), tensor, 0, 1, std::ssize(values));
  }
  return values;
}

struct Sizes {
  Shape batch;
  Shape a_strides;  // of the batch axes, in matrices
  Shape b_strides;
  std::int64_t m = 0, n = 0, k = 0;
};

// Integers are multiplied as unsigned numbers: they wrap.
template <typename T>
void multiply(const Call& call, const Sizes& sizes) {
  const std::vector<T> a = load_all<T>(call.inputs[0]);
  const std::vector<T> b = load_all<T>(call.inputs[1]);
  const auto [m, n, k] = std::array{sizes.m, sizes.n, sizes.k};
  std::vector<T> row(static_cast<std::size_t>(n));
  std::int64_t to = 0;
  each_index(sizes.batch, sizes.a_strides, 0, [&](const Shape& index, std::int64_t a_matrix) {
    std::int64_t b_matrix = 0;
    for (std::size_t d = 0; d < index.rank(); ++d) b_matrix += index[d] * sizes.b_strides[d];
    for (std::int64_t i = 0; i < m; ++i) {
      std::fill(row.begin(), row.end(), T{0});
      for (std::int64_t p = 0; p < k; ++p) {
        const T factor = a[static_cast<std::size_t>((a_matrix * m + i) * k + p)];
        const T* line = b.data() + (b_matrix * k + p) * n;
        for (std::int64_t j = 0; j < n; ++j) row[static_cast<std::size_t>(j)] += factor * line[j];
      }
      if constexpr (std::is_same_v<T, double>) {
        store_reals(call.outputs[0], to, row.data(), n);
      } else {
        store_integers(call.outputs[0], to, reinterpret_cast<const std::int64_t*>(row.data()), n);
      }
      to += n;
    }
  });
}

bool has_8_bits(DType type) { return type == DType::I8 || type == DType::U8; }

DType product_type(DType type) {
  const bool is_small = has_8_bits(type) || type == DType::I16 || type == DType::U16;
  return is_small ? DType::I32 : type;
}

}  // namespace

Status mat_mul(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(2, 2));
  const HostTensor& a = call.inputs[0];
  const HostTensor& b = call.inputs[1];
  const bool same_types = a.type == b.type || (has_8_bits(a.type) && has_8_bits(b.type));
  if (!same_types || a.shape.rank() == 0 || b.shape.rank() == 0) {
    return call.bad("the inputs differ in type, or one is a scalar");
  }
  const bool row = a.shape.rank() == 1;
  const bool column = b.shape.rank() == 1;
  const std::size_t a_batch = row ? 0 : a.shape.rank() - 2;
  const std::size_t b_batch = column ? 0 : b.shape.rank() - 2;
  Sizes sizes;
  sizes.m = row ? 1 : a.shape[a_batch];
  sizes.k = a.shape[a.shape.rank() - 1];
  sizes.n = column ? 1 : b.shape[b.shape.rank() - 1];
  const Shape a_outer(a.shape.span().first(a_batch));
  const Shape b_outer(b.shape.span().first(b_batch));
  sizes.batch = a_outer;
  if (b.shape[b_batch] != sizes.k || !broadcast_into(sizes.batch, b_outer)) {
    return call.bad("shapes " + shape_text(a.shape.span()) + " and " + shape_text(b.shape.span()) +
                    " cannot be multiplied");
  }
  sizes.a_strides = broadcast_strides(a_outer, sizes.batch);
  sizes.b_strides = broadcast_strides(b_outer, sizes.batch);
  Shape result = sizes.batch;
  if (!row) result.push_back(sizes.m);
  if (!column) result.push_back(sizes.n);
  ATTUNE_RETURN_IF_ERROR(call.shape_output(0, product_type(a.type), result));
  if (!call.has_output(0)) return {};
  if (domain_of(a.type) == Domain::Real) {
    multiply<double>(call, sizes);
  } else {
    multiply<std::uint64_t>(call, sizes);
  }
  return {};
}

}  // namespace attune::runtime::host
