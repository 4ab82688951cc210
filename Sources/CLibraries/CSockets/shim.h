#pragma once
// Datagrams of Unix sockets, with what they carry beside their bytes: who sent them, and an open file. Client and
// server alike use these; nothing else in Pinna touches control messages (cmsg) of sockets.
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

// Glibc declares these for GNU sources only: SCM_CREDENTIALS and its struct ucred, O_PATH, and the seals of fcntl.
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
  // Of the packet, also where it was longer than there was room for; -1 where there is none, with errno.
  ssize_t length;
  struct sockaddr_un address;
  socklen_t address_length;
  // Of the sender, as the kernel knows it; has_user is 0 where the socket did not ask (SO_PASSCRED).
  int has_user;
  uid_t user;
  // Which the receiver closes; -1 where the packet carries none, or it was not wanted.
  int file;
};

// The next packet; never waits. Of several files all but the first are closed; where no file is wanted, the kernel
// has no room to hand one over, and closes them.
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
    // The kernel puts credentials first.
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

// Sends one packet, with an open file where `file` is not -1.
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

// Waits until one of two descriptors is readable; -1 is none. A signal does not end it. Returns 1 for the first,
// 2 for the second, 3 for both, 0 where the time is over. A negative time has no end.
static inline int pinna_wait(int first, int second, int milliseconds) {
  struct timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  int left = milliseconds;
  for (;;) {
    struct pollfd both[2] = {{.fd = first, .events = POLLIN}, {.fd = second, .events = POLLIN}};
    int ready = poll(both, 2, left);
    if (ready >= 0) return (both[0].revents != 0) | (both[1].revents != 0) << 1;
    if (errno != EINTR) return 0;
    if (milliseconds < 0) continue;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long long passed = (now.tv_sec - start.tv_sec) * 1000LL + (now.tv_nsec - start.tv_nsec) / 1000000;
    if (passed >= milliseconds) return 0;
    left = milliseconds - (int)passed;
  }
}

// A file in memory that holds these bytes and can never be changed; -1 with errno where there is no room.
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

// Bytes in a file that can never be changed; -1 where it is another kind of file.
static inline long long pinna_sealed_size(int file) {
  struct stat information;
  int seals = fcntl(file, PINNA_F_GET_SEALS);
  if (seals < 0 || (seals & PINNA_SEAL_CONTENT) != PINNA_SEAL_CONTENT) return -1;
  return fstat(file, &information) == 0 ? (long long)information.st_size : -1;
}

// Holds on to what is at `path` without opening it, whatever is put in its place later; follows no link.
static inline int pinna_hold(const char *path) { return open(path, PINNA_O_PATH | O_NOFOLLOW | O_CLOEXEC); }
