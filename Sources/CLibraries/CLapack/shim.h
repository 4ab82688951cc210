#pragma once
// Complex pointers arrive in Swift as OpaquePointer: Debian's lapacke.h has C99 complex numbers, which Swift does
// not import, whatever LAPACK_COMPLEX_STRUCTURE says.
#include <lapacke.h>
#include <cblas.h>
