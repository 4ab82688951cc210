#pragma once
// Counts what the calling thread allocates and frees between begin and end. Linked into a program of its own, whose
// malloc this is; the tests' sanitizers have theirs.
void count_begin(void);
/// Calls of malloc and its like, and of free, since `count_begin`.
long count_end(void);
