#pragma once
// C functions of the realtime path: RealtimeSanitizer's hooks, the floating-point mode, the monotonic clock.
#include "convolver.h"
#include "lanes.h"
#include "processor.h"
#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

// Defined only in a build with -fsanitize=realtime. Otherwise each call costs one test.
extern void __rtsan_realtime_enter(void) __attribute__((weak));
extern void __rtsan_realtime_exit(void) __attribute__((weak));

static inline void pinna_realtime_enter(void) {
  if (__rtsan_realtime_enter) __rtsan_realtime_enter();
}
static inline void pinna_realtime_exit(void) {
  if (__rtsan_realtime_exit) __rtsan_realtime_exit();
}
static inline int pinna_realtime_sanitized(void) { return __rtsan_realtime_enter != 0; }

// The calling thread's floating-point mode.
static inline uint64_t pinna_floating_point_mode(void) {
#if defined(__x86_64__)
  return _mm_getcsr();
#elif defined(__aarch64__)
  uint64_t fpcr;
  __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
  return fpcr;
#else
  return 0;
#endif
}

static inline void pinna_set_floating_point_mode(uint64_t mode) {
#if defined(__x86_64__)
  _mm_setcsr((unsigned int)mode);
#elif defined(__aarch64__)
  __asm__ volatile("msr fpcr, %0" : : "r"(mode));
#endif
}

// Sets flush-to-zero and denormals-are-zero for the calling thread. libjack does not set them.
static inline void pinna_flush_denormals(void) {
#if defined(__x86_64__)
  pinna_set_floating_point_mode(pinna_floating_point_mode() | 0x8040);
#elif defined(__aarch64__)
  pinna_set_floating_point_mode(pinna_floating_point_mode() | (1ull << 24));
#endif
}

// Time on the monotonic clock, read through the vDSO without a system call.
static inline int64_t pinna_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
static inline int64_t pinna_microseconds(void) { return pinna_nanoseconds() / 1000; }

// Copies samples that another thread may be overwriting, for a reader that checks afterwards which of them are whole.
// ThreadSanitizer does not know this kind of reader. Volatile, so that no call of memcpy, which it watches, takes its place.
__attribute__((noinline, unused, no_sanitize("thread")))
static void pinna_copy_shared(float *to, const volatile float *from, long count) {
  for (long n = 0; n < count; n++) to[n] = from[n];
}
