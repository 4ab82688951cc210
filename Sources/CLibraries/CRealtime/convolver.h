#pragma once
// What the engine and its kernels share. C, so that every compilation of the kernels, one per instruction set and
// vector length, has the same types and can be called through one table.
#include <stdint.h>

// Fourier transform of `size` complex points for vectors of `lanes` neighbouring points.
typedef struct {
  long size;
  const float *first;    // [6][size / 4]: re, im of w^p, w^2p, w^3p of the first pass
  const float *second;   // of the second pass: [6][size / 16] from 16 vectors on, else [6][size / 4], each four times
  const float *others;   // [p][6], pass after pass
} pinna_row_transform;

// Real transform of 2 × `size` frames, one microphone per lane.
typedef struct {
  long size;
  const float *turns;    // [p][6], pass after pass
  const float *splits;   // [k][cos, sin] of pi k / size
  const long *places;    // where point k stands after the passes
} pinna_lane_transform;

// Periods over which the units of a tail have their turns.
static const long PINNA_TURNS = 8;

// The sum over old partitions, formed for eight periods at once (Tail.swift).
typedef struct {
  long blocks;           // of eight partitions; 0: there is no tail
  long unit;             // floats from one frequency to the next
  long shift;            // an eighth of the units is 1 << shift
  const float *turns;    // [k][re, im of w^k, w^2k, w^3k], w = e^(-j 2 pi / 16)
  float *spectra;        // [unit][frequency][block modulo blocks][group][re, im][lane]
  float *work;           // [output][16][re, im][lane]
} pinna_tail;

// Everything of one convolver that the kernels read and write; see Convolver.swift for the shapes.
typedef struct {
  long microphones, period;
  long partitions;       // of the Nyquist bin: all
  long head;             // partitions in front of the tail, or all
  long slots;            // spectra that are kept
  long half;             // half the transform; bins 0 ..< half, and the Nyquist bin apart
  long across;           // 1: a vector holds microphones of one bin; 0: bins of one microphone
  long groups;           // vectors per bin (across), or microphones
  long units;            // half (across), or half / lanes
  long edges;            // vectors that hold the Nyquist bin of all microphones
  long unit;             // floats from one unit of the spectra to the next
  long chunk;            // partitions summed before they join the total
  long ahead;            // whether products are formed two periods at a time
  long clock;            // number of the newest period since the stream's first frame
  long newest;           // slot of the newest spectrum
  long newestEdge;       // the same of the Nyquist bin
  long place;            // frame of the window that comes next
  float *window;         // [group][frame modulo 2 half][lane]
  float *spectra;        // [unit][slot][group][re, im][lane]
  float *nyquist;        // [partition][edge][lane]
  float *re, *im;        // work of the analysis
  float *scratch;        // 4 half
  float *gathered;       // [bin modulo 4][re, im, mirrored re, im][4 sums], where vectors hold microphones
  float *silence;        // zeros, 2 half
  pinna_row_transform rows;
  pinna_lane_transform lanes;
  pinna_tail tail;
} pinna_convolver;

// One filter set in the course of being played.
typedef struct {
  long set;              // number of the filter set; 0: none
  const float *bins;     // [output][unit][partition of the head, last first][group][re, im][lane]
  const float *tail;     // [output][unit][frequency][block, last first][group][re, im][lane]
  const float *nyquist;  // [output][partition, last first][edge][lane]
  float *sums;           // [unit][output][re, im][lane], of the next period
  float *later;          // [unit][period since its turn][output][re, im][lane]: the tail's part
  long known;            // turns whose shares of the tail are in `later`: PINNA_TURNS are all
  long age;              // periods since it began to be heard
  float *re, *im;        // left + j right: 2 half and a vector each
  float *left, *right;   // where it goes; null while it only gets ready
} pinna_voice;

// The last frames of all microphones: [microphone][frame modulo capacity].
typedef struct {
  float *frames;
  long capacity;
  long stride;           // floats from one microphone to the next
  long written;
} pinna_history;

typedef struct {
  float energy, peak;
  long rejected, clipped;
} pinna_measure;

typedef struct {
  long lanes;
  // Takes in the period that ends `age` frames before the newest.
  void (*analyse)(pinna_convolver *, const pinna_history *, long age);
  // Plays one voice, or two at once.
  void (*synthesise)(pinna_convolver *, pinna_voice *, long voices);
  // Copies sound and zeroes what is none; measures what came. A null target only measures.
  void (*take)(const float *from, float *to, long count, pinna_measure *);
} pinna_kernels;
