#pragma once
// The x86-64 level of this processor: 1, 3 or 4 (https://gitlab.com/x86-psABIs/x86-64-ABI). 1 on other architectures.
static inline int pinna_processor_level(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (!(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))) return 1;
  if (!(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd")
        && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))) return 3;
  return 4;
#else
  return 1;
#endif
}
