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

// Glibc declares it for GNU sources only.
int renameat2(int old_folder, const char *from, int new_folder, const char *to, unsigned int flags);

// RENAME_NOREPLACE.
static inline int pinna_rename_to_free(int folder, const char *from, const char *to) {
  return renameat2(folder, from, folder, to, 1u);
}

// PR_SET_NAME, of the calling thread; Swift sees no functions of variable arguments.
static inline void pinna_name_thread(const char *name) { syscall(SYS_prctl, 15, name, 0, 0, 0); }

// A file in memory, of which holes take no room; memfd_create, which Glibc declares for GNU sources only.
static inline int pinna_memory_file(void) {
  return (int)syscall(SYS_memfd_create, "pinna", 1u);
}
