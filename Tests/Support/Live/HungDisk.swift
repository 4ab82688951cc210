import Foundation
import TestSupport

/// A disk that does not answer until `release`, like a network drive whose server is gone. Every operation on
/// its folder that a take needs blocks, and so does every lookup of a path there.
public struct HungDisk {
  private static let source = #"""
    #define _GNU_SOURCE
    #include <dirent.h>
    #include <errno.h>
    #include <fcntl.h>
    #include <stdarg.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/stat.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    static void hang(const char *path) {
      if (!strstr(path, getenv("PINNA_HUNG_FOLDER"))) return;
      const char *order = getenv("PINNA_HANG_FILE");
      char mark[4096];
      snprintf(mark, sizeof mark, "%s.begun", order);
      while (syscall(SYS_access, order, F_OK) == 0) {
        int file = syscall(SYS_openat, AT_FDCWD, mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (file >= 0) close(file);
        usleep(2000);
      }
    }
    static void hang_at(int folder, const char *name) {
      char link[64], path[8192] = {0};
      int error = errno;
      if (name[0] != '/' && folder >= 0) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        ssize_t length = readlink(link, path, 4000);
        if (length < 0) length = 0;
        path[length] = '/';
        strncpy(path + length + 1, name, 4000);
      } else strncpy(path, name, 4000);
      hang(path);
      errno = error;
    }
    static void hang_on(int file) { hang_at(file, ""); }
    ssize_t write(int file, const void *bytes, size_t count) {
      if (file > 2) hang_on(file);
      return syscall(SYS_write, file, bytes, count);
    }
    ssize_t pwrite(int file, const void *bytes, size_t count, off_t at) {
      hang_on(file);
      return syscall(SYS_pwrite64, file, bytes, count, at);
    }
    int fdatasync(int file) { hang_on(file); return syscall(SYS_fdatasync, file); }
    int ftruncate(int file, off_t size) { hang_on(file); return syscall(SYS_ftruncate, file, size); }
    int posix_fallocate(int file, off_t at, off_t size) {
      hang_on(file);
      return syscall(SYS_fallocate, file, 0, at, size) == 0 ? 0 : errno;
    }
    int openat(int folder, const char *name, int flags, ...) {
      va_list more;
      va_start(more, flags);
      int mode = flags & O_CREAT ? va_arg(more, int) : 0;
      va_end(more);
      hang_at(folder, name);
      return syscall(SYS_openat, folder, name, flags, mode);
    }
    int open(const char *path, int flags, ...) {
      va_list more;
      va_start(more, flags);
      int mode = flags & O_CREAT ? va_arg(more, int) : 0;
      va_end(more);
      hang(path);
      return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    }
    DIR *opendir(const char *path) {
      hang(path);
      int file = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      return file < 0 ? NULL : fdopendir(file);
    }
    char *realpath(const char *path, char *resolved) {
      hang(path);
      char *found = canonicalize_file_name(path);
      if (!found || !resolved) return found;
      strcpy(resolved, found);
      free(found);
      return resolved;
    }
    int access(const char *path, int mode) {
      hang(path);
      return syscall(SYS_faccessat, AT_FDCWD, path, mode);
    }
    int stat(const char *path, struct stat *information) {
      hang(path);
      return syscall(SYS_newfstatat, AT_FDCWD, path, information, 0);
    }
    int lstat(const char *path, struct stat *information) {
      hang(path);
      return syscall(SYS_newfstatat, AT_FDCWD, path, information, AT_SYMLINK_NOFOLLOW);
    }
    int renameat(int from, const char *name, int to, const char *other) {
      hang_at(from, name);
      return syscall(SYS_renameat2, from, name, to, other, 0);
    }
    int renameat2(int from, const char *name, int to, const char *other, unsigned flags) {
      hang_at(from, name);
      return syscall(SYS_renameat2, from, name, to, other, flags);
    }
    int unlinkat(int folder, const char *name, int flags) {
      hang_at(folder, name);
      return syscall(SYS_unlinkat, folder, name, flags);
    }
    """#

  /// The environment of a Pinna that writes on the disk.
  public let environment: [String: String]
  /// The folder for takes, with `--dir`.
  public let folder: String
  private let home: PinnaHome

  public init(home: PinnaHome) throws {
    self.home = home
    folder = home.folder.path + "/hung"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    environment = try Preload.environment(Self.source, home: home).merging(
      ["PINNA_HUNG_FOLDER": "/hung", "PINNA_HANG_FILE": home.folder.path + "/hang"]) { $1 }
  }

  /// From now on every access blocks.
  public func hang() throws { try home.folder.write("", to: "hang") }

  public func release() { unlink(home.folder.path + "/hang") }

  /// Whether an access is blocked.
  public var hasBegun: Bool { access(home.folder.path + "/hang.begun", F_OK) == 0 }
}
