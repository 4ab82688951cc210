#pragma once
// Types that the engine and its kernels share. They are C so that every compilation of the kernels (one per
// instruction set and vector length) has the same types and can be called through one table.
//
// Shapes list the slowest index first; the last index is contiguous. Terms:
// - lane: element of a SIMD vector.
// - bin: index of the transform over time (Analysis.swift). Bin k is at frequency (k - 1/4) / bins, in cycles per frame.
// - unit: the bins of one vector. One bin where lanes hold microphones, else as many neighbouring bins as lanes.
// - group: vectors that one unit needs for all microphones.
// - partition: a piece of a filter, one period long. Partition 0 is the start of the impulse response.
// - slot: position of one period's spectrum in the ring of input spectra.
// - re, im: real and imaginary parts are in separate vectors ("split complex"), side by side.
#include <stdint.h>

// FFT of `size` complex points, with neighbouring points in the lanes of a vector (RowFFT.swift).
// Twiddles: re and im of w^p, w^2p, w^3p, with w = e^(-j 2 pi / size of the pass). Weighted twiddles: re and im of v, v w^p,
// v w^2p, v w^3p, with v = e^(j pi p / (2 size)).
typedef struct {
  long size;
  const float *weightedTwiddles;  // first pass of the analysis: [8][columns], columns = max(size / 4, lanes), repeated
  const float *firstTwiddles;     // first pass of the synthesis: [6][columns]
  const float *secondTwiddles;    // second pass: [6][size / 4], each four times
  const float *laterTwiddles;     // other passes, one after another: [p][6]
  const float *weights;           // [cos, sin][frame], of pi frame / (2 size)
} pinna_row_fft;

// FFT of `size` complex points of several microphones, one per lane (LaneFFT.swift). Twiddles as above.
typedef struct {
  long size;
  const float *weightedTwiddles;  // first pass: [p][8]
  const float *twiddles;          // other passes, one after another: [p][6]
  const long *lastPassOffsets;    // [k]: offset in `work`, in vectors, of the last butterfly whose first output is bin k
} pinna_lane_fft;

// The sum over old partitions, computed for as many periods at once as a block has partitions (Tail.swift). The work is
// spread over as many periods, its phases: in each, the same number of units is computed.
typedef struct {
  long blocks;            // blocks of `phases` partitions; 0 where there is no tail
  long phases;            // 8 or 16; 0 where there is no tail
  long frequencyStride;   // floats from one frequency of `spectra` to the next
  long phaseShift;        // units per phase = 1 << phaseShift
  const float *twiddles;  // [k][re, im of w^k, w^2k, w^3k], w = e^(-j pi / phases)
  float *spectra;         // [unit][frequency][block modulo blocks][group][re, im][lane]
  float *work;            // [output][2 phases][re, im][lane]
} pinna_tail;

// All state of one convolver that the kernels read and write. ConvolverLayout.swift computes the sizes.
typedef struct {
  long microphones, period;
  long headPartitions;      // partitions of the filters before the tail; all where there is no tail
  long slots;               // spectra kept per microphone
  long bins;                // half the frames of a window
  long lanesAreMicrophones; // 1: a vector holds one bin of several microphones; 0: several bins of one microphone
  long groups;              // ceil(microphones / lanes) where lanes are microphones, else microphones
  long units;               // bins where lanes are microphones, else bins / lanes
  long unitStride;          // floats from one unit of `spectra` to the next
  long chunk;               // partitions summed before they join the total
  long pairsPeriods;        // 1: one pass over the filters serves two periods
  long periodIndex;         // index of the newest period on the stream's clock
  long newestSlot;          // slot of the newest spectrum
  long windowPosition;      // next write position in `window`
  float *window;            // [group][frame modulo 2 bins][lane], only where lanes are microphones
  float *spectra;           // [unit][slot][group][re, im][lane]
  float *work;              // [re, im][bin] of the analysis, rowStride floats apart; where lanes are microphones, [bin][re, im][lane]
  float *scratch;           // [re, im][bin], rowStride floats apart
  long rowStride;           // floats from the real to the imaginary parts of a row; more than bins
  pinna_row_fft rowFFT;
  pinna_lane_fft laneFFT;
  pinna_tail tail;
} pinna_convolver;

// A filter set while it is played. There are two during a crossfade.
typedef struct {
  long filterSerial;           // of the filter set; 0 for none
  const float *headSpectra;    // [output][unit][head partition, last first][group][re, im][lane]
  const float *tailSpectra;    // [output][unit][frequency][block, last first][group][re, im][lane]
  float *partialSums;          // [unit][output][re, im][lane]: the next period's sum without its newest partition
  float *tailSums;             // [unit][period since the unit's phase][output][re, im][lane]: the tail's share
  long tailPhases;             // phases whose share is in `tailSums`; complete at `tail.phases`
  long periodsPlayed;          // consecutive periods up to the newest in which it was played, heard or not;
                               // every period of `periodIndex` plays a voice or stops it (filterSerial = 0)
  float *spectra;              // [output][re, im][bin], rowStride floats apart
  float *left, *right;         // output; null while it is not heard
} pinna_voice;

// The last frames of all microphones: [microphone][frame modulo capacity].
typedef struct {
  float *frames;
  long capacity;  // a power of two
  long stride;    // floats from one microphone to the next
  long written;   // frames written so far
} pinna_history;

// Measured over the samples of one channel.
typedef struct {
  float energy;   // sum of squares; without NaN, infinity and samples above 120 dBFS
  float peak;     // largest magnitude of the same samples
  long rejected;  // invalid samples: NaN, infinity, or above 60 dBFS
  long clipped;   // samples above full scale
} pinna_measure;

// The kernels of one instruction set and vector length.
typedef struct {
  long lanes;
  // Computes the spectra of the period that ended `age` frames before the newest. With a negative age, only advances
  // the window, by the period that ended -1 - age frames before the newest.
  void (*analyse)(pinna_convolver *, const pinna_history *, long age);
  // Computes one period of output for one or two voices; for a voice without output buffers, only its tail and the sums
  // that begin pairs.
  void (*synthesise)(pinna_convolver *, pinna_voice *, long voices);
  // Copies samples and adds their measures. A null target only measures.
  void (*copyAndMeasure)(const float *from, float *to, long count, pinna_measure *);
  // Adds one microphone's share of a pair of outputs, term by term. `frames` is a multiple of 4 lanes; before the first
  // frame of `signal` there are taps - 1 others.
  void (*addDirectly)(
      const float *signal, long frames, const float *left, const float *right, long taps, float *leftSums, float *rightSums);
} pinna_kernels;
