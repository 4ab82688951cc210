#pragma once
// System calls for sockets that Swift's Glibc does not offer.
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// Glibc declares POLLRDHUP, accept4 and struct ucred only with _GNU_SOURCE.
enum { PINNA_POLLRDHUP = 0x2000 };

// Accepts a connection whose descriptor neither blocks nor reaches other programs. Returns -1 with errno on failure.
static inline int pinna_accept(int listener) {
  return (int)syscall(SYS_accept4, listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

// The user who made the other end of a connection, according to the kernel. Returns -1 if that is unknown.
static inline long long pinna_peer_user(int connection) {
  struct {
    pid_t process;
    uid_t user;
    gid_t group;
  } credentials;
  socklen_t size = sizeof credentials;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return -1;
  return credentials.user;
}

// As poll, but signals do not interrupt it. A negative time waits forever.
static inline int pinna_poll(struct pollfd *all, int count, int milliseconds) {
  struct timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  int left = milliseconds;
  for (;;) {
    int ready = poll(all, (nfds_t)count, left);
    if (ready >= 0 || errno != EINTR) return ready;
    if (milliseconds < 0) continue;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long long passed = (now.tv_sec - start.tv_sec) * 1000LL + (now.tv_nsec - start.tv_nsec) / 1000000;
    left = passed < milliseconds ? milliseconds - (int)passed : 0;
  }
}
