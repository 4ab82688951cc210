#pragma once
// The parts of the C library that the engine uses, for a target without Swift's Glibc module.
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// Swift imports neither variadic functions nor these macros.
static inline int pinna_open(const char *path, int flags) { return open(path, flags); }
static inline int pinna_errno(void) { return errno; }
static inline void *pinna_map_failed(void) { return MAP_FAILED; }
