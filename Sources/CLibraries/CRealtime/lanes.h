#pragma once
// SIMD vectors for the kernels: what Swift's SIMD types lack, or have only element by element. Swift's operators on them
// compute each element by itself; LLVM rejoins those to vectors, but some only in halves.
//
// PINNA_LANES is the number of floats in a vector: 4 (SSE2, NEON), 8 (with AVX2) or 16 (with AVX-512).
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
// round twice. Every arm64 processor has it.
PINNA_REALTIME pinna_lanes pinna_multiply_add(pinna_lanes sum, pinna_lanes a, pinna_lanes b) {
#if defined(__FMA__) || defined(__aarch64__)
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

// The first two elements of each group of four lanes of `a` and `b`, taken in turn: a0 b0 a1 b1; then the last two.
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
PINNA_REALTIME pinna_lanes pinna_low(pinna_lanes a, pinna_lanes b) { return PINNA_LOW(a, b); }
PINNA_REALTIME pinna_lanes pinna_high(pinna_lanes a, pinna_lanes b) { return PINNA_HIGH(a, b); }

// The first two elements of each group of four lanes of `a`, and those of `b`: a0 a1 b0 b1; then the last two.
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
PINNA_REALTIME pinna_lanes pinna_pairs_low(pinna_lanes a, pinna_lanes b) { return PINNA_PAIRS_LOW(a, b); }
PINNA_REALTIME pinna_lanes pinna_pairs_high(pinna_lanes a, pinna_lanes b) { return PINNA_PAIRS_HIGH(a, b); }

#if PINNA_LANES == 16
// The first half of `a`, and that of `b`; then the second halves.
#define PINNA_HALVES(a, b, n) \
  __builtin_shufflevector(a, b, n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 16, n + 17, n + 18, n + 19, n + 20, n + 21, n + 22, n + 23)
PINNA_REALTIME pinna_lanes pinna_halves_low(pinna_lanes a, pinna_lanes b) { return PINNA_HALVES(a, b, 0); }
PINNA_REALTIME pinna_lanes pinna_halves_high(pinna_lanes a, pinna_lanes b) { return PINNA_HALVES(a, b, 8); }

// The first and third group of four lanes of `a`, and those of `b`; then the second and fourth.
#define PINNA_FOURS(a, b, n) \
  __builtin_shufflevector(a, b, n, n + 1, n + 2, n + 3, n + 8, n + 9, n + 10, n + 11, n + 16, n + 17, n + 18, n + 19, n + 24, n + 25, n + 26, n + 27)

// The first halves, each element of `a` beside that of `b`, in the order of elements 0, 4, 1, 5, 2, 6, 3, 7; then the second
// halves.
#define PINNA_ZIP(a, b, n) \
  __builtin_shufflevector(a, b, n, n + 16, n + 4, n + 20, n + 1, n + 17, n + 5, n + 21, n + 2, n + 18, n + 6, n + 22, n + 3, n + 19, n + 7, n + 23)
PINNA_REALTIME pinna_lanes pinna_zip_low(pinna_lanes a, pinna_lanes b) { return PINNA_ZIP(a, b, 0); }
PINNA_REALTIME pinna_lanes pinna_zip_high(pinna_lanes a, pinna_lanes b) { return PINNA_ZIP(a, b, 8); }
#elif PINNA_LANES == 8
// The first group of four lanes of `a`, and that of `b`; then the second ones.
#define PINNA_FOURS(a, b, n) __builtin_shufflevector(a, b, n, n + 1, n + 2, n + 3, n + 8, n + 9, n + 10, n + 11)
#endif
#if PINNA_LANES > 4
PINNA_REALTIME pinna_lanes pinna_fours_low(pinna_lanes a, pinna_lanes b) { return PINNA_FOURS(a, b, 0); }
PINNA_REALTIME pinna_lanes pinna_fours_high(pinna_lanes a, pinna_lanes b) { return PINNA_FOURS(a, b, 4); }
#endif

// Stores four frames of `count` rows, which are `step` floats apart, as one vector per frame. Lane r holds row r; lanes from
// `count` on hold 0.
PINNA_REALTIME void pinna_transpose_rows(
    const float *rows, long step, long count, float *to0, float *to1, float *to2, float *to3) {
  typedef pinna_four loose __attribute__((aligned(4)));
  static const float zeros[4] = {0};
#define PINNA_ROW(r) (*(const loose *)((r) < count ? rows + (r) * step : zeros))
#if PINNA_LANES == 16
#define PINNA_JOIN_FOURS(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7)
#define PINNA_ROWS(r) \
  __builtin_shufflevector(PINNA_JOIN_FOURS(PINNA_ROW(r), PINNA_ROW(r + 4)), PINNA_JOIN_FOURS(PINNA_ROW(r + 8), PINNA_ROW(r + 12)), \
                          0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#elif PINNA_LANES == 8
#define PINNA_ROWS(r) __builtin_shufflevector(PINNA_ROW(r), PINNA_ROW(r + 4), 0, 1, 2, 3, 4, 5, 6, 7)
#else
#define PINNA_ROWS(r) PINNA_ROW(r)
#endif
  pinna_lanes a = PINNA_ROWS(0), b = PINNA_ROWS(1), c = PINNA_ROWS(2), d = PINNA_ROWS(3);
  pinna_lanes ab = PINNA_LOW(a, b), cd = PINNA_LOW(c, d), abHigh = PINNA_HIGH(a, b), cdHigh = PINNA_HIGH(c, d);
  pinna_store(PINNA_PAIRS_LOW(ab, cd), to0);
  pinna_store(PINNA_PAIRS_HIGH(ab, cd), to1);
  pinna_store(PINNA_PAIRS_LOW(abHigh, cdHigh), to2);
  pinna_store(PINNA_PAIRS_HIGH(abHigh, cdHigh), to3);
}

// Sums each vector over its lanes, and stores the sums in pairs: of `a` and `e` at `toA`, of `b` and `f` at `toB`, of `c` and `g`
// at `toC`, of `d` and `h` at `toD`.
PINNA_REALTIME void pinna_store_sums_of_lanes(
    pinna_lanes a, pinna_lanes b, pinna_lanes c, pinna_lanes d, pinna_lanes e, pinna_lanes f, pinna_lanes g, pinna_lanes h,
    float *toA, float *toB, float *toC, float *toD) {
  // Each step adds the two halves of two vectors, or of their groups of lanes, and packs both results into one vector.
#define PINNA_ADD_FOURS(a, b) (PINNA_FOURS(a, b, 0) + PINNA_FOURS(a, b, 4))
#if PINNA_LANES == 16
#define PINNA_ADD_EIGHTS(a, b) (PINNA_HALVES(a, b, 0) + PINNA_HALVES(a, b, 8))
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
