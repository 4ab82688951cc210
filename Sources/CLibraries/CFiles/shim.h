#pragma once
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

// renameat2 with RENAME_NOREPLACE, which Glibc declares for GNU sources only.
static inline int pinna_rename_to_free(const char *from, const char *to) {
  return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 1u);
}
