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
  static func remove() {
    if !isServerRunning { try? FileManager.default.removeItem(atPath: "/dev/shm/jack_db-\(getuid())") }
  }

  /// Whether a `jackd` runs in this process's mount namespace.
  private static var isServerRunning: Bool {
    let files = FileManager.default
    let space = try? files.destinationOfSymbolicLink(atPath: "/proc/self/ns/mnt")
    return (try? files.contentsOfDirectory(atPath: "/proc"))?.contains { pid in
      guard Int(pid) != nil, let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
        text.contains("(jackd) "), !text.contains("(jackd) Z"), !text.contains("(jackd) X")
      else { return false }
      return (try? files.destinationOfSymbolicLink(atPath: "/proc/\(pid)/ns/mnt")) == space
    } ?? true
  }
}

extension Trait where Self == LockedMetadata {
  /// Each test starts without a database that the last one left locked.
  public static var withoutLockedMetadata: Self { LockedMetadata() }
}
