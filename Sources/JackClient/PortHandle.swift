/// The handle of a port. libjack allows its use on any thread.
package struct PortHandle: Hashable, @unchecked Sendable {
  // Unchecked: the pointer never changes, and libjack synchronises access to the port.
  package let port: OpaquePointer
  package init(_ port: OpaquePointer) { self.port = port }
}
