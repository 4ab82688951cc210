#pragma once
// Unix domain datagrams with ancillary data: the sender's credentials, and an open file. Client and server both use
// these functions. Nothing else in Pinna handles control messages (cmsg).
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

// Glibc declares these only with _GNU_SOURCE: SCM_CREDENTIALS, its struct ucred, O_PATH, and the seals of fcntl.
enum {
  PINNA_SCM_CREDENTIALS = 2,
  PINNA_O_PATH = 010000000,
  PINNA_F_ADD_SEALS = 1033,
  PINNA_F_GET_SEALS = 1034,
  PINNA_SEAL_SEAL = 1,
  PINNA_SEAL_CONTENT = 2 | 4 | 8,  // F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_WRITE
};
struct pinna_credentials {
  pid_t process;
  uid_t user;
  gid_t group;
};

struct pinna_datagram {
  // Full length of the packet, even if it was truncated. -1 with errno if there is none.
  ssize_t length;
  struct sockaddr_un address;
  socklen_t address_length;
  // The sender, according to the kernel. has_user is 0 if the socket did not request credentials (SO_PASSCRED).
  int has_user;
  uid_t user;
  // An open file, which the receiver must close. -1 if the packet has none, or none was requested.
  int file;
};

// Receives the next packet without waiting. If it carries several files, all but the first are closed. If no file is
// requested, there is no room for one in the control buffer, and the kernel closes them.
static inline struct pinna_datagram pinna_receive(int socket, void *bytes, size_t size, int wants_file) {
  struct pinna_datagram it;
  memset(&it, 0, sizeof it);
  it.file = -1;
  union {
    struct cmsghdr alignment;
    char bytes[CMSG_SPACE(sizeof(struct pinna_credentials)) + CMSG_SPACE(sizeof(int))];
  } control;
  struct iovec part = {.iov_base = bytes, .iov_len = size};
  struct msghdr message;
  do {
    memset(&message, 0, sizeof message);
    message.msg_name = &it.address;
    message.msg_namelen = sizeof it.address;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    // Credentials come first, so the shorter buffer has room for them alone.
    message.msg_controllen =
        wants_file ? sizeof control : CMSG_SPACE(sizeof(struct pinna_credentials));
    it.length = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC | MSG_TRUNC);
  } while (it.length < 0 && errno == EINTR);
  if (it.length < 0) return it;
  it.address_length = message.msg_namelen;
  for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c != NULL; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET) continue;
    if (c->cmsg_type == PINNA_SCM_CREDENTIALS && c->cmsg_len >= CMSG_LEN(sizeof(struct pinna_credentials))) {
      struct pinna_credentials who;
      memcpy(&who, CMSG_DATA(c), sizeof who);
      it.has_user = 1;
      it.user = who.user;
    } else if (c->cmsg_type == SCM_RIGHTS) {
      size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (size_t n = 0; n < count; n++) {
        int file;
        memcpy(&file, CMSG_DATA(c) + n * sizeof file, sizeof file);
        if (it.file < 0) it.file = file;
        else close(file);
      }
    }
  }
  return it;
}

// Sends one packet, with an open file unless `file` is -1.
static inline ssize_t pinna_send(int socket, const void *bytes, size_t size, const struct sockaddr *to,
                                 socklen_t to_length, int file, int flags) {
  union {
    struct cmsghdr alignment;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control;
  memset(&control, 0, sizeof control);
  struct iovec part = {.iov_base = (void *)bytes, .iov_len = size};
  struct msghdr message;
  memset(&message, 0, sizeof message);
  message.msg_name = (void *)to;
  message.msg_namelen = to_length;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (file >= 0) {
    message.msg_control = &control;
    message.msg_controllen = sizeof control.bytes;
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(c), &file, sizeof file);
  }
  return sendmsg(socket, &message, flags | MSG_NOSIGNAL);
}

// Waits until one of at most PINNA_WAIT_MAX descriptors is readable. A descriptor of -1 is ignored; a negative time waits
// forever. Signals do not interrupt it. Returns a bit for each readable descriptor, the first one's being the lowest; 0
// after a timeout.
enum { PINNA_WAIT_MAX = 8 };
static inline unsigned pinna_wait(const int *descriptors, int count, int milliseconds) {
  struct timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  int left = milliseconds;
  if (count > PINNA_WAIT_MAX) count = PINNA_WAIT_MAX;
  for (;;) {
    struct pollfd all[PINNA_WAIT_MAX];
    for (int n = 0; n < count; n++) all[n] = (struct pollfd){.fd = descriptors[n], .events = POLLIN};
    int ready = poll(all, (nfds_t)count, left);
    if (ready >= 0) {
      unsigned readable = 0;
      for (int n = 0; n < count; n++) readable |= (unsigned)(all[n].revents != 0) << n;
      return readable;
    }
    if (errno != EINTR) return 0;
    if (milliseconds < 0) continue;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long long passed = (now.tv_sec - start.tv_sec) * 1000LL + (now.tv_nsec - start.tv_nsec) / 1000000;
    if (passed >= milliseconds) return 0;
    left = milliseconds - (int)passed;
  }
}

// Creates a sealed file in memory with these bytes, which nobody can change. Returns -1 with errno on failure.
static inline int pinna_sealed_file(const void *bytes, size_t size) {
  int file = (int)syscall(SYS_memfd_create, "pinna answer", 3u);  // MFD_CLOEXEC, MFD_ALLOW_SEALING
  if (file < 0) return -1;
  size_t written = 0;
  while (written < size) {
    ssize_t count = write(file, (const char *)bytes + written, size - written);
    if (count > 0) written += (size_t)count;
    else if (errno != EINTR) break;
  }
  if (written == size && fcntl(file, PINNA_F_ADD_SEALS, PINNA_SEAL_CONTENT | PINNA_SEAL_SEAL) == 0) return file;
  close(file);
  return -1;
}

// Size of a sealed file in bytes; -1 if the file is not sealed.
static inline long long pinna_sealed_size(int file) {
  struct stat information;
  int seals = fcntl(file, PINNA_F_GET_SEALS);
  if (seals < 0 || (seals & PINNA_SEAL_CONTENT) != PINNA_SEAL_CONTENT) return -1;
  return fstat(file, &information) == 0 ? (long long)information.st_size : -1;
}

// Returns a descriptor for the object at `path` without opening it (O_PATH). It keeps referring to that object if the
// path is replaced. Does not follow symbolic links.
static inline int pinna_hold(const char *path) { return open(path, PINNA_O_PATH | O_NOFOLLOW | O_CLOEXEC); }
