#pragma once
// Complex pointers are OpaquePointer in Swift. Debian's lapacke.h always uses C99 complex numbers, which Swift does not
// import; it ignores LAPACK_COMPLEX_STRUCTURE.
#include <lapacke.h>
#include <cblas.h>
