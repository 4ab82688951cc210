#pragma once
// SIMD vectors for the kernels: what Swift's SIMD types lack, or have only element by element. Swift's operators on them
// compute each element by itself; LLVM rejoins those to vectors, but some only in halves.
//
// PINNA_LANES is the number of floats in a vector: 4, 8 (with AVX2) or 16 (with AVX-512).
#ifndef PINNA_LANES
#define PINNA_LANES 4
#endif

typedef float pinna_lanes __attribute__((ext_vector_type(PINNA_LANES)));
typedef float pinna_two __attribute__((ext_vector_type(2)));
typedef float pinna_four __attribute__((ext_vector_type(4)));
typedef float pinna_eight __attribute__((ext_vector_type(8)));

// For Swift's proof that the realtime path neither locks nor allocates.
#define PINNA_REALTIME static inline __attribute__((always_inline, swift_attr("@_noLocks"), swift_attr("@_noAllocation")))

#define PINNA_TWO(v, n) __builtin_shufflevector(v, v, n, n + 1)
#define PINNA_LOW_FOUR(v) __builtin_shufflevector(v, v, 0, 1, 2, 3)
#define PINNA_HIGH_FOUR(v) __builtin_shufflevector(v, v, 4, 5, 6, 7)
#define PINNA_LOW_EIGHT(v) __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7)
#define PINNA_HIGH_EIGHT(v) __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15)

// MARK: - Arithmetic

PINNA_REALTIME pinna_lanes pinna_add(pinna_lanes a, pinna_lanes b) { return a + b; }
PINNA_REALTIME pinna_lanes pinna_subtract(pinna_lanes a, pinna_lanes b) { return a - b; }
PINNA_REALTIME pinna_lanes pinna_multiply(pinna_lanes a, pinna_lanes b) { return a * b; }
PINNA_REALTIME pinna_lanes pinna_negate(pinna_lanes a) { return -a; }

// sum + a b. Fused multiply-add rounds once; without the instruction it would be a slow library call, so builds without it
// round twice.
PINNA_REALTIME pinna_lanes pinna_multiply_add(pinna_lanes sum, pinna_lanes a, pinna_lanes b) {
#if defined(__FMA__)
  return __builtin_elementwise_fma(a, b, sum);
#else
  return sum + a * b;
#endif
}

// Four sums, each of every fourth lane.
PINNA_REALTIME pinna_four pinna_fold_to_four(pinna_lanes v) {
#if PINNA_LANES == 16
  pinna_eight sums = PINNA_LOW_EIGHT(v) + PINNA_HIGH_EIGHT(v);
  return PINNA_LOW_FOUR(sums) + PINNA_HIGH_FOUR(sums);
#elif PINNA_LANES == 8
  return PINNA_LOW_FOUR(v) + PINNA_HIGH_FOUR(v);
#else
  return v;
#endif
}

// MARK: - Moves between lanes

// At any alignment.
PINNA_REALTIME void pinna_store(pinna_lanes v, float *to) {
  typedef float loose __attribute__((ext_vector_type(PINNA_LANES), aligned(4)));
  *(loose *)to = v;
}

PINNA_REALTIME void pinna_store_two(pinna_two v, float *to) {
  typedef pinna_two loose __attribute__((aligned(4)));
  *(loose *)to = v;
}

// Pairs of elements, in groups of four lanes: elements 0 and 1 of `a` and `b`, then 2 and 3.
#if PINNA_LANES == 16
#define PINNA_PAIRS_LOW(a, b) __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)
#define PINNA_PAIRS_HIGH(a, b) __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31)
#elif PINNA_LANES == 8
#define PINNA_PAIRS_LOW(a, b) __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define PINNA_PAIRS_HIGH(a, b) __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#else
#define PINNA_PAIRS_LOW(a, b) __builtin_shufflevector(a, b, 0, 1, 4, 5)
#define PINNA_PAIRS_HIGH(a, b) __builtin_shufflevector(a, b, 2, 3, 6, 7)
#endif

#if PINNA_LANES == 16
#define PINNA_LOW(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29)
#define PINNA_HIGH(a, b) __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31)
#elif PINNA_LANES == 8
#define PINNA_LOW(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define PINNA_HIGH(a, b) __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#else
#define PINNA_LOW(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define PINNA_HIGH(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#endif

#if PINNA_LANES == 16
// Eight elements from `n` on of each; groups of four from element `n` on, and from `n + 8` on, of each.
#define PINNA_HALVES(a, b, n) \
  __builtin_shufflevector(a, b, n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 16, n + 17, n + 18, n + 19, n + 20, n + 21, n + 22, n + 23)
#define PINNA_GROUPS(a, b, n) \
  __builtin_shufflevector(a, b, n, n + 1, n + 2, n + 3, n + 8, n + 9, n + 10, n + 11, n + 16, n + 17, n + 18, n + 19, n + 24, n + 25, n + 26, n + 27)
#endif

// Vector i of four vectors transposed in groups of four lanes: element i of each group's four.
PINNA_REALTIME pinna_lanes pinna_transposed(pinna_lanes a, pinna_lanes b, pinna_lanes c, pinna_lanes d, int i) {
  switch (i) {
  case 0: return PINNA_PAIRS_LOW(PINNA_LOW(a, b), PINNA_LOW(c, d));
  case 1: return PINNA_PAIRS_HIGH(PINNA_LOW(a, b), PINNA_LOW(c, d));
  case 2: return PINNA_PAIRS_LOW(PINNA_HIGH(a, b), PINNA_HIGH(c, d));
  default: return PINNA_PAIRS_HIGH(PINNA_HIGH(a, b), PINNA_HIGH(c, d));
  }
}

// Stores four vectors in groups of four lanes: group 0 of each, then group 1 of each, and so on.
PINNA_REALTIME void pinna_store_fours(pinna_lanes a, pinna_lanes b, pinna_lanes c, pinna_lanes d, float *to) {
#if PINNA_LANES == 16
  pinna_lanes abLow = PINNA_HALVES(a, b, 0), cdLow = PINNA_HALVES(c, d, 0), abHigh = PINNA_HALVES(a, b, 8), cdHigh = PINNA_HALVES(c, d, 8);
  pinna_store(PINNA_GROUPS(abLow, cdLow, 0), to);
  pinna_store(PINNA_GROUPS(abLow, cdLow, 4), to + 16);
  pinna_store(PINNA_GROUPS(abHigh, cdHigh, 0), to + 32);
  pinna_store(PINNA_GROUPS(abHigh, cdHigh, 4), to + 48);
#elif PINNA_LANES == 8
  pinna_store(__builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11), to);
  pinna_store(__builtin_shufflevector(c, d, 0, 1, 2, 3, 8, 9, 10, 11), to + 8);
  pinna_store(__builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15), to + 16);
  pinna_store(__builtin_shufflevector(c, d, 4, 5, 6, 7, 12, 13, 14, 15), to + 24);
#else
  pinna_store(a, to);
  pinna_store(b, to + 4);
  pinna_store(c, to + 8);
  pinna_store(d, to + 12);
#endif
}

// Stores the four elements of each lane side by side.
PINNA_REALTIME void pinna_store_transposed(pinna_lanes a, pinna_lanes b, pinna_lanes c, pinna_lanes d, float *to) {
#if PINNA_LANES == 16
  // Two moves per vector; by way of groups of four lanes it would be four.
#define PINNA_ZIP(a, b, n) \
  __builtin_shufflevector(a, b, n, n + 16, n + 4, n + 20, n + 1, n + 17, n + 5, n + 21, n + 2, n + 18, n + 6, n + 22, n + 3, n + 19, n + 7, n + 23)
  pinna_lanes abLow = PINNA_ZIP(a, b, 0), cdLow = PINNA_ZIP(c, d, 0), abHigh = PINNA_ZIP(a, b, 8), cdHigh = PINNA_ZIP(c, d, 8);
  pinna_store(PINNA_PAIRS_LOW(abLow, cdLow), to);
  pinna_store(PINNA_PAIRS_HIGH(abLow, cdLow), to + 16);
  pinna_store(PINNA_PAIRS_LOW(abHigh, cdHigh), to + 32);
  pinna_store(PINNA_PAIRS_HIGH(abHigh, cdHigh), to + 48);
#else
  pinna_store_fours(
      pinna_transposed(a, b, c, d, 0), pinna_transposed(a, b, c, d, 1), pinna_transposed(a, b, c, d, 2),
      pinna_transposed(a, b, c, d, 3), to);
#endif
}

// Four frames of `count` rows, which are `step` floats apart, as one vector per frame: lane r is row r. Other lanes are 0.
PINNA_REALTIME void pinna_transpose_rows(
    const float *rows, long step, long count, float *to0, float *to1, float *to2, float *to3) {
  typedef pinna_four loose __attribute__((aligned(4)));
  static const float zeros[4];
#define PINNA_ROW(r) (*(const loose *)((r) < count ? rows + (r) * step : zeros))
#if PINNA_LANES == 16
#define PINNA_EIGHT(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7)
#define PINNA_ROWS(r) \
  __builtin_shufflevector(PINNA_EIGHT(PINNA_ROW(r), PINNA_ROW(r + 4)), PINNA_EIGHT(PINNA_ROW(r + 8), PINNA_ROW(r + 12)), \
                          0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#elif PINNA_LANES == 8
#define PINNA_ROWS(r) __builtin_shufflevector(PINNA_ROW(r), PINNA_ROW(r + 4), 0, 1, 2, 3, 4, 5, 6, 7)
#else
#define PINNA_ROWS(r) PINNA_ROW(r)
#endif
  pinna_lanes a = PINNA_ROWS(0), b = PINNA_ROWS(1), c = PINNA_ROWS(2), d = PINNA_ROWS(3);
  pinna_store(pinna_transposed(a, b, c, d, 0), to0);
  pinna_store(pinna_transposed(a, b, c, d, 1), to1);
  pinna_store(pinna_transposed(a, b, c, d, 2), to2);
  pinna_store(pinna_transposed(a, b, c, d, 3), to3);
}

// Sums over lanes. Stores those of `a` and `e` side by side, of `b` and `f`, of `c` and `g`, and of `d` and `h`.
PINNA_REALTIME void pinna_store_sums_of_lanes(
    pinna_lanes a, pinna_lanes b, pinna_lanes c, pinna_lanes d, pinna_lanes e, pinna_lanes f, pinna_lanes g, pinna_lanes h,
    float *toA, float *toB, float *toC, float *toD) {
  // Each step adds halves of two vectors, and has both sums in one vector.
#if PINNA_LANES == 16
#define PINNA_ADD_EIGHTS(a, b) (PINNA_HALVES(a, b, 0) + PINNA_HALVES(a, b, 8))
#define PINNA_ADD_FOURS(a, b) (PINNA_GROUPS(a, b, 0) + PINNA_GROUPS(a, b, 4))
#define PINNA_ADD_NEIGHBOURS(a, b) \
  (__builtin_shufflevector(a, b, 0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30) + \
   __builtin_shufflevector(a, b, 1, 3, 17, 19, 5, 7, 21, 23, 9, 11, 25, 27, 13, 15, 29, 31))
  pinna_lanes abcd = PINNA_ADD_FOURS(PINNA_ADD_EIGHTS(a, b), PINNA_ADD_EIGHTS(c, d));
  pinna_lanes efgh = PINNA_ADD_FOURS(PINNA_ADD_EIGHTS(e, f), PINNA_ADD_EIGHTS(g, h));
  pinna_lanes pairs = PINNA_ADD_NEIGHBOURS(abcd, efgh), sums = PINNA_ADD_NEIGHBOURS(pairs, pairs);
  pinna_store_two(PINNA_TWO(sums, 0), toA);
  pinna_store_two(PINNA_TWO(sums, 4), toB);
  pinna_store_two(PINNA_TWO(sums, 8), toC);
  pinna_store_two(PINNA_TWO(sums, 12), toD);
#elif PINNA_LANES == 8
#define PINNA_ADD_FOURS(a, b) \
  (__builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11) + __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15))
#define PINNA_ADD_NEIGHBOURS(a, b) \
  (__builtin_shufflevector(a, b, 0, 2, 8, 10, 4, 6, 12, 14) + __builtin_shufflevector(a, b, 1, 3, 9, 11, 5, 7, 13, 15))
  pinna_lanes aebf = PINNA_ADD_NEIGHBOURS(PINNA_ADD_FOURS(a, b), PINNA_ADD_FOURS(e, f));
  pinna_lanes cgdh = PINNA_ADD_NEIGHBOURS(PINNA_ADD_FOURS(c, d), PINNA_ADD_FOURS(g, h));
  pinna_lanes sums = PINNA_ADD_NEIGHBOURS(aebf, cgdh);
  pinna_store_two(PINNA_TWO(sums, 0), toA);
  pinna_store_two(PINNA_TWO(sums, 4), toB);
  pinna_store_two(PINNA_TWO(sums, 2), toC);
  pinna_store_two(PINNA_TWO(sums, 6), toD);
#else
#define PINNA_ADD_NEIGHBOURS(a, b) (__builtin_shufflevector(a, b, 0, 2, 4, 6) + __builtin_shufflevector(a, b, 1, 3, 5, 7))
  pinna_lanes aebf = PINNA_ADD_NEIGHBOURS(PINNA_ADD_NEIGHBOURS(a, e), PINNA_ADD_NEIGHBOURS(b, f));
  pinna_lanes cgdh = PINNA_ADD_NEIGHBOURS(PINNA_ADD_NEIGHBOURS(c, g), PINNA_ADD_NEIGHBOURS(d, h));
  pinna_store_two(PINNA_TWO(aebf, 0), toA);
  pinna_store_two(PINNA_TWO(aebf, 2), toB);
  pinna_store_two(PINNA_TWO(cgdh, 0), toC);
  pinna_store_two(PINNA_TWO(cgdh, 2), toD);
#endif
}
