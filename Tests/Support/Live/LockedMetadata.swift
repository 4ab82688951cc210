import Foundation
import Testing

/// Removes JACK's metadata database before each test, so that a program killed by the last one holds up no other.
public struct LockedMetadata: SuiteTrait, TestTrait, TestScoping {
  public let isRecursive = true

  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    if !LiveGraph.isPipeWire { Self.remove() }
    try await function()
  }

  /// Removes JACK's metadata database unless a server with this `/dev/shm` runs. A program that is killed during a write
  /// leaves the database locked for good, and the next server and all clients would wait for it forever.
  public static func remove() {
    if !isServerRunning { try? FileManager.default.removeItem(atPath: database) }
  }

  public static var database: String { "/dev/shm/jack_db-\(getuid())" }

  /// Whether a `jackd` runs in this process's mount namespace. One that has ended, but was not waited for, has none.
  public static var isServerRunning: Bool {
    let files = FileManager.default
    func space(_ process: String) -> String? {
      try? files.destinationOfSymbolicLink(atPath: "/proc/\(process)/ns/mnt")
    }
    let own = space("self")
    return (try? files.contentsOfDirectory(atPath: "/proc"))?.contains { process in
      ["jackd\n", "jackdbus\n"].contains(
        try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8))
        && space(process) == own
    } ?? true
  }
}

extension Trait where Self == LockedMetadata {
  /// Each test starts without a database that the last one left locked.
  public static var withoutLockedMetadata: Self { LockedMetadata() }
}
