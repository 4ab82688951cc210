import Foundation

/// C code that overrides functions of the C library, or of another, in one process.
public enum Preload {
  /// Nil if there is no C compiler.
  public static let compiler: String? = ["/usr/bin/cc", "/usr/bin/clang", "/opt/swift/usr/bin/clang"].first {
    access($0, X_OK) == 0
  }

  /// Compiles `source` in the home's folder and returns the environment that preloads it.
  public static func environment(_ source: String, home: PinnaHome) throws -> [String: String] {
    let code = try home.folder.write(source, to: "preload.c")
    let library = home.folder.path + "/preload.so"
    let built = try Program.run(
      compiler ?? "/usr/bin/cc", ["-shared", "-fPIC", "-fno-builtin", "-o", library, code])
    guard built.status == 0 else { throw SupportError("\(built)") }
    return ["LD_PRELOAD": library]
  }
}

/// A disk that is slow once, like one that spins up or a lost network.
public struct SlowDisk {
  private static let source = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <fcntl.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    ssize_t write(int file, const void *bytes, size_t count) {
      char link[64], path[4096] = {0};
      snprintf(link, sizeof link, "/proc/self/fd/%d", file);
      if (readlink(link, path, sizeof path - 1) > 0 && strstr(path, getenv("PINNA_SLOW_FILES"))) {
        int order = open(getenv("PINNA_DELAY_FILE"), O_RDWR | O_CLOEXEC);
        char text[32] = {0};
        if (order >= 0) {
          int seconds = read(order, text, sizeof text - 1) > 0 ? atoi(text) : 0;
          if (seconds > 0 && ftruncate(order, 0) == 0) sleep(seconds);
          close(order);
        }
      }
      return syscall(SYS_write, file, bytes, count);
    }
    """

  /// The environment of a Pinna that writes on the disk.
  public let environment: [String: String]
  private let home: PinnaHome

  /// - Parameter files: the ending of the names of the slow files.
  public init(home: PinnaHome, files: String) throws {
    self.home = home
    let delay = try home.folder.write("0", to: "delay")
    environment = try Preload.environment(Self.source, home: home).merging(
      ["PINNA_SLOW_FILES": files, "PINNA_DELAY_FILE": delay]) { $1 }
  }

  /// Lets the next write to one of those files take so long.
  public func delay(seconds: Int) throws { try home.folder.write("\(seconds)", to: "delay") }

  /// Whether that write has begun.
  public var hasBegun: Bool {
    (try? String(contentsOfFile: home.folder.path + "/delay", encoding: .utf8))?.isEmpty == true
  }
}
