#pragma once
// Structures instead of C99 complex numbers, which Swift does not import.
#define LAPACK_COMPLEX_STRUCTURE
#include <lapacke.h>
#include <cblas.h>
