// Several elements of one thread: an array, which lies in registers since every loop over it is
// unrolled. A vector is declared and set by statements whose expression is written once, for the
// lane at_l: VL(x) is the vector x there, VLOAD memory, VSPLAT a scalar. Lanes of a truth value are
// 0 or 1. Memory that is known to be aligned moves in pieces of up to 16 bytes (WIDE).
#pragma once

#define AT_UNROLL _Pragma("unroll")
#define VEACH(n) AT_UNROLL for (int at_l = 0; at_l < (n); ++at_l)
#define VDECLARE(T, n, x) at_##T x[n] = {}
#define VLET(T, n, x, e) \
  at_##T x[n];           \
  VEACH(n) x[at_l] = (at_##T)(e)
#define VSET(T, n, x, e) VEACH(n) x[at_l] = (at_##T)(e)
#define VL(x) (x[at_l])
#define VSPLAT(T, n, e) ((at_##T)(e))
#define VIOTA(T, n, ...) ((at_##T)at_l)
#define VLOAD(T, n, p) ((p)[at_l])
#define VSTORE(T, n, p, e) VEACH(n)(p)[at_l] = (at_##T)(e)
#define VWRAP(T, n, a, op, b) ((at_##T)((at_wrap_##T)(a)op(at_wrap_##T)(b)))
#define VCONVERT(T, n, e) ((at_##T)(e))
#define VCOMPARE(M, n, a, op, b) ((a)op(b))
#define VNOT(m) (!(m))
#define VFLAG(c) (c)
#define VFROM_MASK(T, n, m) ((at_##T)(m))
#define VSELECT(T, M, n, m, a, b) ((m) ? (a) : (b))
#define VMAP1(T, S, n, x, f, a) VEACH(n) x[at_l] = f(a[at_l])
#define VMAP2(T, S, n, x, f, a, b) VEACH(n) x[at_l] = f(a[at_l], b[at_l])
#define VMAP3(T, S, n, x, f, a, b, c) VEACH(n) x[at_l] = f(a[at_l], b[at_l], c[at_l])
#define VBITS(x, a) memcpy(x, a, sizeof(x))
#define VSTRIDED(T, n, x, p, s) VEACH(n) x[at_l] = (p)[at_l * (s)]
#define VGATHER(T, n, x, p, i) VEACH(n) x[at_l] = (p)[i[at_l]]
#define VSTRIDED_IF(T, n, x, m, p, s) VEACH(n) if (m[at_l]) x[at_l] = (p)[at_l * (s)]
#define VGATHER_IF(T, n, x, m, p, i) VEACH(n) if (m[at_l]) x[at_l] = (p)[i[at_l]]
#define VSCATTER(T, n, p, i, x) VEACH(n)(p)[i[at_l]] = x[at_l]
#define VSCATTER_STRIDED(T, n, p, s, x) VEACH(n)(p)[at_l * (s)] = x[at_l]
#define VREDUCE(T, n, r, f, a) \
  r = a[0];                    \
  AT_UNROLL for (int at_l = 1; at_l < (n); ++at_l) r = f(r, a[at_l])
// Whether any lane of a mask holds; r is an int.
#define ANY_LANE(n, r, m) \
  r = 0;                  \
  VEACH(n) r |= m[at_l] != 0

#define VLOAD_WIDE(T, n, bytes, x, p) \
  at_##T x[n];                        \
  at_load_pieces<bytes>(x, p)
#define VSTORE_WIDE(T, n, bytes, p, e) \
  do {                                 \
    at_##T at_v[n];                    \
    VEACH(n) at_v[at_l] = (at_##T)(e); \
    at_store_pieces<bytes>(p, at_v);   \
  } while (0)

template <int bytes>
struct at_piece;
template <>
struct at_piece<16> {
  typedef uint4 type;
};
template <>
struct at_piece<8> {
  typedef uint2 type;
};
template <>
struct at_piece<4> {
  typedef unsigned type;
};
template <>
struct at_piece<2> {
  typedef unsigned short type;
};

template <int bytes, typename T, int n>
AT_DEVICE void at_load_pieces(T (&x)[n], const T* p) {
  typedef typename at_piece<bytes>::type Piece;
  AT_UNROLL for (int i = 0; i < n * (int)sizeof(T) / bytes; ++i) {
    const Piece piece = reinterpret_cast<const Piece*>(p)[i];
    memcpy(&x[i * (bytes / (int)sizeof(T))], &piece, bytes);
  }
}

template <int bytes, typename T, int n>
AT_DEVICE void at_store_pieces(T* p, const T (&x)[n]) {
  typedef typename at_piece<bytes>::type Piece;
  AT_UNROLL for (int i = 0; i < n * (int)sizeof(T) / bytes; ++i) {
    Piece piece;
    memcpy(&piece, &x[i * (bytes / (int)sizeof(T))], bytes);
    reinterpret_cast<Piece*>(p)[i] = piece;
  }
}
