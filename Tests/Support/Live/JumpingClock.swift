import Foundation

/// A wall clock for one process that can jump: tests must not change the machine's own.
public struct JumpingClock {
  private static let source = """
    #define _GNU_SOURCE
    #include <fcntl.h>
    #include <stdlib.h>
    #include <sys/syscall.h>
    #include <sys/time.h>
    #include <time.h>
    #include <unistd.h>
    int clock_gettime(clockid_t clock, struct timespec *time) {
      int result = (int)syscall(SYS_clock_gettime, clock, time);
      if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE) return result;
      int file = open(getenv("PINNA_CLOCK_FILE"), O_RDONLY | O_CLOEXEC);
      char text[32] = {0};
      if (file < 0) return result;
      if (read(file, text, sizeof text - 1) > 0) time->tv_sec += atol(text);
      close(file);
      return result;
    }
    int gettimeofday(struct timeval *time, void *zone) {
      struct timespec now;
      clock_gettime(CLOCK_REALTIME, &now);
      time->tv_sec = now.tv_sec;
      time->tv_usec = now.tv_nsec / 1000;
      return 0;
    }
    time_t time(time_t *out) {
      struct timespec now;
      clock_gettime(CLOCK_REALTIME, &now);
      if (out) *out = now.tv_sec;
      return now.tv_sec;
    }
    """

  /// The environment of the process.
  public let environment: [String: String]
  private let home: PinnaHome

  public init(home: PinnaHome) throws {
    self.home = home
    environment = try Preload.environment(Self.source, home: home).merging(
      ["PINNA_CLOCK_FILE": home.folder.path + "/clock"]) { $1 }
    try set(seconds: 0)
  }

  /// Sets how far the wall clock is ahead from now on.
  public func set(seconds: Int) throws { try home.folder.write("\(seconds)\n", to: "clock") }
}
