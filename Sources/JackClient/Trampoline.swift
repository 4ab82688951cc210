import Glibc
import Realtime
import Synchronization

/// What JACK's process callback jumps to: finds the ports in force and runs their engine.
final class Trampoline: @unchecked Sendable {
  // Unchecked: `current` belongs to the control thread that calls `replace`; the callback reads `ports`.

  /// Address of the `ArrayPorts` in force; 0 for none.
  private let ports = Atomic<UInt>(0)
  /// Calls so far; two more and nothing old is in use.
  private let calls = Atomic<Int>(0)
  let active = Atomic<Bool>(false)
  let freewheeling = Atomic<Bool>(false)
  let outputs = Mutex<[PortHandle]>([])
  private var current: ArrayPorts?

  /// JACK's realtime thread.
  func run(_ frames: UInt32) {
    if freewheeling.load(ordering: .relaxed) { awaitRoom(frames) }
    RealtimeCalls.enter()
    process(frames)
    RealtimeCalls.exit()
  }

  @_noLocks @_noAllocation
  private func process(_ frames: UInt32) {
    // Acquiring: what the control thread built is there before we use it.
    if let address = UnsafeRawPointer(bitPattern: ports.load(ordering: .acquiring)) {
      Unmanaged<ArrayPorts>.fromOpaque(address)._withUnsafeGuaranteedRef { $0.process(frames) }
    }
    calls.wrappingAdd(1, ordering: .releasing)
  }

  /// In freewheel there is no deadline: wait for the disk thread rather than lose frames.
  private func awaitRoom(_ frames: UInt32) {
    guard let address = UnsafeRawPointer(bitPattern: ports.load(ordering: .acquiring)) else { return }
    let engine = Unmanaged<ArrayPorts>.fromOpaque(address)._withUnsafeGuaranteedRef { $0.engine }
    for _ in 0..<10_000 where !engine.hasRoomInTake(frames: Int(frames)) { usleep(500) }
  }

  /// Control thread: from now on the callback uses `new`. Returns when it has let go of what came before.
  func replace(with new: ArrayPorts) {
    let old = current
    current = new
    ports.store(UInt(bitPattern: Unmanaged.passUnretained(new).toOpaque()), ordering: .releasing)
    guard old != nil, active.load(ordering: .acquiring) else { return }
    let seen = calls.load(ordering: .acquiring)
    // A server that stands still for a second has no callback running either.
    for _ in 0..<1000 where calls.load(ordering: .acquiring) < seen + 2 { usleep(1000) }
    withExtendedLifetime(old) {}
  }
}
