/* Vectors of generated kernels: this block alone knows how a compiler spells them. A vector is
 * declared and set by statements (VLET, VSET, VSTORE ...) whose expression is written once, for one
 * lane or for all: VL(x) is the vector x there, VLOAD memory, VSPLAT a scalar in every lane.
 *
 * GCC (9 and later) and clang have vector types, and an expression stands for all lanes at once.
 * Elsewhere, or with -DATTUNE_PORTABLE, a vector is an array and each statement a loop over its
 * lanes (A...). Lanes that are no power of two are arrays everywhere.
 *
 * Lanes of a truth value (the mask tags i8 to i64) are 0 or -1 in vectors, 0 or 1 in arrays. */
#ifndef ATTUNE_VECTORS_H
#define ATTUNE_VECTORS_H

#include <string.h>

#if defined(__clang__)
#pragma STDC FP_CONTRACT ON
#elif defined(__GNUC__)
/* Sums are set in the first iteration of the loop that adds to them, which GCC does not see. */
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

/* Arrays: at_l is the lane. */
#define AEACH(n) for (int at_l = 0; at_l < (n); ++at_l)
#define ADECLARE(T, n, x) at_##T x[n] = {0}
#define ALET(T, n, x, e) \
  at_##T x[n];           \
  AEACH(n) x[at_l] = (at_##T)(e)
#define ASET(T, n, x, e) AEACH(n) x[at_l] = (at_##T)(e)
#define AL(x) (x[at_l])
#define ASPLAT(T, n, e) ((at_##T)(e))
#define AIOTA(T, n, ...) ((at_##T)at_l)
#define ALOAD(T, n, p) ((p)[at_l])
#define ASTORE(T, n, p, e) AEACH(n)(p)[at_l] = (at_##T)(e)
#define AWRAP(T, n, a, op, b) ((at_##T)((at_wrap_##T)(a)op(at_wrap_##T)(b)))
#define ACONVERT(T, n, e) ((at_##T)(e))
#define ACOMPARE(M, n, a, op, b) ((a)op(b))
#define ANOT(m) (!(m))
#define AFLAG(c) (c)
#define AFROM_MASK(T, n, m) ((at_##T)(m))
#define ASELECT(T, M, n, m, a, b) ((m) ? (a) : (b))
#define AMAP1(T, S, n, x, f, a) AEACH(n) x[at_l] = f(a[at_l])
#define AMAP2(T, S, n, x, f, a, b) AEACH(n) x[at_l] = f(a[at_l], b[at_l])
#define AMAP3(T, S, n, x, f, a, b, c) AEACH(n) x[at_l] = f(a[at_l], b[at_l], c[at_l])
#define ABITS(x, a) memcpy(x, a, sizeof x)
#define ASTRIDED(T, n, x, p, s) AEACH(n) x[at_l] = (p)[at_l * (s)]
#define AGATHER(T, n, x, p, i) AEACH(n) x[at_l] = (p)[i[at_l]]
#define ASTRIDED_IF(T, n, x, m, p, s) AEACH(n) x[at_l] = m[at_l] ? (p)[at_l * (s)] : 0
#define AGATHER_IF(T, n, x, m, p, i) AEACH(n) x[at_l] = m[at_l] ? (p)[i[at_l]] : 0
#define ASCATTER(T, n, p, i, x) AEACH(n)(p)[i[at_l]] = x[at_l]
#define ASCATTER_STRIDED(T, n, p, s, x) AEACH(n)(p)[at_l * (s)] = x[at_l]
/* Halves are combined while their number is even, then what is left in order. */
#define AREDUCE(T, n, r, f, a)                                                               \
  do {                                                                                       \
    at_##T at_v[n];                                                                          \
    int at_h = (n);                                                                          \
    memcpy(at_v, a, sizeof at_v);                                                            \
    while (at_h > 1 && at_h % 2 == 0) {                                                      \
      at_h /= 2;                                                                             \
      for (int at_l = 0; at_l < at_h; ++at_l) at_v[at_l] = f(at_v[at_l], at_v[at_l + at_h]); \
    }                                                                                        \
    for (int at_l = 1; at_l < at_h; ++at_l) at_v[0] = f(at_v[0], at_v[at_l]);                \
    r = at_v[0];                                                                             \
  } while (0)

#if !defined(ATTUNE_PORTABLE) && (defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 9))

/* Vectors of one type; the same with unsigned lanes, and in memory: aligned like an element. */
#define VTYPE(T, n)                                                                        \
  typedef at_##T at_##T##_##n __attribute__((vector_size(sizeof(at_##T) * (n))));          \
  typedef at_bits_##T at_##T##_##n##_w __attribute__((vector_size(sizeof(at_##T) * (n)))); \
  typedef at_##T##_##n at_##T##_##n##_m __attribute__((aligned(sizeof(at_##T)), may_alias));

#ifdef __clang__
#define AT_KEEP_LOOP _Pragma("clang loop unroll(disable)")
#else
#define AT_KEEP_LOOP
#endif

#define VDECLARE(T, n, x) at_##T##_##n x = {0}
#define VLET(T, n, x, e) at_##T##_##n x = (e)
#define VSET(T, n, x, e) x = (e)
#define VL(x) (x)
/* Taking zero away changes nothing, not even the sign of a zero. */
#define VSPLAT(T, n, e) ((at_##T)(e) - (at_##T##_##n){0})
#define VIOTA(T, n, ...) ((at_##T##_##n){__VA_ARGS__})
#define VLOAD(T, n, p) (*(const at_##T##_##n##_m*)(const void*)(p))
#define VSTORE(T, n, p, e) (*(at_##T##_##n##_m*)(void*)(p) = (e))
#define VWRAP(T, n, a, op, b) ((at_##T##_##n)((at_##T##_##n##_w)(a)op(at_##T##_##n##_w)(b)))
#define VCONVERT(T, n, e) __builtin_convertvector((e), at_##T##_##n)
#define VCOMPARE(M, n, a, op, b) ((at_##M##_##n)((a)op(b)))
#define VNOT(m) (~(m))
#define VFLAG(c) (-(c))
#define VFROM_MASK(T, n, m) ((at_##T##_##n)(m)&VSPLAT(T, n, 1))
#define VSELECT(T, M, n, m, a, b) \
  ((at_##T##_##n)(((at_##M##_##n)(a) & (m)) | ((at_##M##_##n)(b) & ~(m))))
/* Functions of one lane: a loop over an array, which the compiler makes a vector again. */
#define VMAP1(T, S, n, x, f, a)                       \
  do {                                                \
    at_##S at_a[n];                                   \
    at_##T at_r[n];                                   \
    memcpy(at_a, &a, sizeof at_a);                    \
    AT_KEEP_LOOP AEACH(n) at_r[at_l] = f(at_a[at_l]); \
    memcpy(&x, at_r, sizeof at_r);                    \
  } while (0)
#define VMAP2(T, S, n, x, f, a, b)                                \
  do {                                                            \
    at_##S at_a[n], at_b[n];                                      \
    at_##T at_r[n];                                               \
    memcpy(at_a, &a, sizeof at_a);                                \
    memcpy(at_b, &b, sizeof at_b);                                \
    AT_KEEP_LOOP AEACH(n) at_r[at_l] = f(at_a[at_l], at_b[at_l]); \
    memcpy(&x, at_r, sizeof at_r);                                \
  } while (0)
#define VMAP3(T, S, n, x, f, a, b, c)                                         \
  do {                                                                        \
    at_##S at_a[n], at_b[n], at_c[n];                                         \
    at_##T at_r[n];                                                           \
    memcpy(at_a, &a, sizeof at_a);                                            \
    memcpy(at_b, &b, sizeof at_b);                                            \
    memcpy(at_c, &c, sizeof at_c);                                            \
    AT_KEEP_LOOP AEACH(n) at_r[at_l] = f(at_a[at_l], at_b[at_l], at_c[at_l]); \
    memcpy(&x, at_r, sizeof at_r);                                            \
  } while (0)
#define VBITS(x, a) memcpy(&x, &a, sizeof x)
#define AT_FILL(T, n, x, e)        \
  do {                             \
    at_##T at_r[n];                \
    AEACH(n) at_r[at_l] = (e);     \
    memcpy(&x, at_r, sizeof at_r); \
  } while (0)
#define VSTRIDED(T, n, x, p, s) AT_FILL(T, n, x, (p)[at_l * (s)])
#define VGATHER(T, n, x, p, i) AT_FILL(T, n, x, (p)[(i)[at_l]])
#define VSTRIDED_IF(T, n, x, m, p, s) AT_FILL(T, n, x, (m)[at_l] ? (p)[at_l * (s)] : 0)
#define VGATHER_IF(T, n, x, m, p, i) AT_FILL(T, n, x, (m)[at_l] ? (p)[(i)[at_l]] : 0)
#define VSCATTER(T, n, p, i, x) AEACH(n)(p)[(i)[at_l]] = (x)[at_l]
#define VSCATTER_STRIDED(T, n, p, s, x) AEACH(n)(p)[at_l * (s)] = (x)[at_l]
#define VREDUCE(T, n, r, f, a) AREDUCE(T, n, r, f, &a)

#else

#define VTYPE(T, n)
#define VDECLARE ADECLARE
#define VLET ALET
#define VSET ASET
#define VL AL
#define VSPLAT ASPLAT
#define VIOTA AIOTA
#define VLOAD ALOAD
#define VSTORE ASTORE
#define VWRAP AWRAP
#define VCONVERT ACONVERT
#define VCOMPARE ACOMPARE
#define VNOT ANOT
#define VFLAG AFLAG
#define VFROM_MASK AFROM_MASK
#define VSELECT ASELECT
#define VMAP1 AMAP1
#define VMAP2 AMAP2
#define VMAP3 AMAP3
#define VBITS ABITS
#define VSTRIDED ASTRIDED
#define VGATHER AGATHER
#define VSTRIDED_IF ASTRIDED_IF
#define VGATHER_IF AGATHER_IF
#define VSCATTER ASCATTER
#define VSCATTER_STRIDED ASCATTER_STRIDED
#define VREDUCE AREDUCE

#endif

/* Whether any lane of a mask holds; r is an int. */
#define ANY_LANE(n, r, m) \
  r = 0;                  \
  AEACH(n) r |= (m)[at_l] != 0

/* Hints: the cache line of an address; and that what was read through a pointer before says nothing
 * of what is read through it afterwards, so that values are read again instead of kept. */
#if defined(__GNUC__) || defined(__clang__)
#define AT_PREFETCH(p, locality) __builtin_prefetch((p), 0, (locality))
#define AT_READ_AGAIN(p) __asm__("" : "+r"(p))
#else
#define AT_PREFETCH(p, locality) ((void)(p))
#define AT_READ_AGAIN(p) ((void)(p))
#endif

#endif
