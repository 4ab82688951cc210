// How long zita-convolver takes for what `pinna-benchmarks periods` measures: microphones x 2 filters, one period per call.
// Not part of Pinna. Usage: zita MICROPHONES TAPS PERIOD PERIODS uniform|threads
// Prints microseconds per period: lowest of a call, mean processor time of all threads, mean of a call.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zita-convolver.h>

static long now(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

static float noise(float size) { return size * (2.0f * rand() / RAND_MAX - 1); }

int main(int argc, char **argv) {
  if (argc != 6) return 2;
  const unsigned microphones = atoi(argv[1]), taps = atoi(argv[2]), period = atoi(argv[3]);
  const long periods = atol(argv[4]);
  // zita's own choice, as its jconvolver makes it, has larger partitions in threads for long filters.
  const bool uniform = !strcmp(argv[5], "uniform");
#ifdef __x86_64__
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#endif
  Convproc convolver;
  convolver.set_options(Convproc::OPT_FFTW_MEASURE | Convproc::OPT_VECTOR_MODE);
  const unsigned part = period < 64 ? 64 : period;
  if (convolver.configure(microphones, 2, taps, period, part, uniform ? part : Convproc::MAXPART, 0.0f)) return 1;
  float *filter = new float[taps];
  for (unsigned m = 0; m < microphones; m++)
    for (unsigned o = 0; o < 2; o++) {
      for (unsigned n = 0; n < taps; n++) filter[n] = noise(1e-3f);
      if (convolver.impdata_create(m, o, 1, filter, 0, taps)) return 1;
    }
  if (convolver.start_process(0, SCHED_OTHER)) return 1;
  float *input = new float[microphones * period], *output = new float[2 * period];
  for (unsigned n = 0; n < microphones * period; n++) input[n] = noise(0.5f);
  // What reading the clock itself takes is no part of a call, here as in pinna-benchmarks.
  long clock_cost = 1000000000;
  for (int n = 0; n < 1000; n++) {
    const long start = now(CLOCK_MONOTONIC), time = now(CLOCK_MONOTONIC) - start;
    if (time < clock_cost) clock_cost = time;
  }
  long lowest = 1000000000, before = 0, total = 0;
  for (long n = -200; n < periods; n++) {
    if (n == 0) before = now(CLOCK_PROCESS_CPUTIME_ID);
    const long start = now(CLOCK_MONOTONIC);
    for (unsigned m = 0; m < microphones; m++)
      memcpy(convolver.inpdata(m), input + m * period, period * sizeof(float));
    // In step with its threads, as it must be where no sound may be lost.
    convolver.process(true);
    for (unsigned o = 0; o < 2; o++) memcpy(output + o * period, convolver.outdata(o), period * sizeof(float));
    const long time = now(CLOCK_MONOTONIC) - start - clock_cost;
    if (n < 0) continue;
    total += time;
    if (time < lowest) lowest = time;
  }
  const long processor = now(CLOCK_PROCESS_CPUTIME_ID) - before;
  printf("%.2f %.2f %.2f\n", lowest / 1e3, processor / 1e3 / periods, total / 1e3 / periods);
  convolver.stop_process();
}
