#pragma once
#include <fcntl.h>
#include <malloc.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

// Bytes that this program has from malloc.
static inline size_t pinna_bytes_in_use(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// renameat2 with RENAME_NOREPLACE, which Glibc declares for GNU sources only.
static inline int pinna_rename_to_free(const char *from, const char *to) {
  return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 1u);
}

// A file in memory, of which holes take no room; memfd_create, which Glibc declares for GNU sources only.
static inline int pinna_memory_file(void) {
  return (int)syscall(SYS_memfd_create, "pinna", 1u);
}
