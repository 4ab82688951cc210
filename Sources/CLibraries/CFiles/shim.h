#pragma once
#include <fcntl.h>
#include <malloc.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

// Bytes allocated by malloc in this program.
static inline size_t pinna_bytes_in_use(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Glibc declares renameat2 only with _GNU_SOURCE.
int renameat2(int old_folder, const char *from, int new_folder, const char *to, unsigned int flags);

// Renames unless `to` exists (RENAME_NOREPLACE).
static inline int pinna_rename_noreplace(int folder, const char *from, const char *to) {
  return renameat2(folder, from, folder, to, 1u);
}

// Glibc declares this only with _GNU_SOURCE.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int first);

// Closes all descriptors from `first` on in the new process.
static inline int pinna_close_from(posix_spawn_file_actions_t *actions, int first) {
  return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

// Glibc declares this only with _GNU_SOURCE.
int pipe2(int ends[2], int flags);

// A pipe that other programs do not inherit: its reading end, its writing end.
static inline int pinna_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

// Names the calling thread (PR_SET_NAME). Swift does not import the variadic prctl.
static inline void pinna_name_thread(const char *name) { syscall(SYS_prctl, 15, name, 0, 0, 0); }

// A file in memory, whose holes take no memory. Glibc declares memfd_create only with _GNU_SOURCE.
static inline int pinna_memory_file(void) {
  return (int)syscall(SYS_memfd_create, "pinna", 1u);
}
