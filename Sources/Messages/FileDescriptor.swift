import Glibc

/// A file descriptor that is closed with its last reference.
///
/// Thread: any; immutable.
package final class FileDescriptor: Sendable {
  package let number: Int32
  package init(_ number: Int32) { self.number = number }
  deinit { if number >= 0 { close(number) } }
}
