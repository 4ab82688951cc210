import Acoustics
import Control
import LiveSupport
import Messages
import TestSupport
import Testing

/// Packets of head trackers, as they send them.
@Suite("The socket for poses") struct PoseSocketTests {
  /// - Returns: the newest pose that the socket has heard, and how many packets told none.
  private func heard(
    isInRadians: Bool = false, after present: TrackedPose = TrackedPose(), _ send: (UDPSender) -> Void
  ) throws -> (pose: TrackedPose?, dropped: Int) {
    let socket = try PoseSocket(port: 0, isInRadians: isInRadians)
    let sender = UDPSender(port: UInt16(socket.address.description.split(separator: ":")[1])!)
    send(sender)
    return (socket.newest(after: present), socket.droppedPackets)
  }

  private func isNear(_ pose: TrackedPose?, _ yaw: Double, _ pitch: Double, _ roll: Double) -> Bool {
    guard let pose else { return false }
    return [(pose.yaw, yaw), (pose.pitch, pitch), (pose.roll, roll)].allSatisfy { abs($0 - $1) < 1e-3 }
  }

  @Test(
    "yaw, pitch and roll are heard at every path", arguments: ["/ypr", "/adm/lis/ypr", "/SceneRotator/ypr"])
  func angles(path: String) throws {
    let heard = try heard { $0.send(path, .float(30), .float(-10), .float(5)) }
    #expect(isNear(heard.pose, 30, -10, 5))
    let radians = try self.heard(isInRadians: true) { $0.send(path, .float(0.5), .float(0), .float(-0.25)) }
    #expect(isNear(radians.pose, 28.6479, 0, -14.3239))
  }

  @Test("what a message does not tell stays")
  func single() throws {
    let present = TrackedPose(yaw: 1, pitch: 2, roll: 3)
    #expect(try isNear(heard(after: present) { $0.send("/SceneRotator/yaw", .float(40)) }.pose, 40, 2, 3))
    #expect(try isNear(heard(after: present) { $0.send("/pinna/pose/roll", .float(40)) }.pose, 1, 2, 40))
    // Pinna's own are in degrees, whatever the tracker sends.
    let own = try heard(isInRadians: true, after: present) { $0.send("/pinna/pose/yaw", .float(40)) }
    #expect(isNear(own.pose, 40, 2, 3))
  }

  @Test("quaternions of a turn to the left, of the face up, and of the left side up")
  func quaternions() throws {
    let half = Float(0.5).squareRoot()
    #expect(
      try isNear(heard { $0.send("/quat", .float(half), .float(0), .float(0), .float(half)) }.pose, 90, 0, 0))
    #expect(
      try isNear(heard { $0.send("/quat", .float(half), .float(half), .float(0), .float(0)) }.pose, 0, 0, 90))
    let (c, s) = (Float(0.98480775), Float(0.17364818))
    // Pitch up turns about the axis to the right.
    #expect(
      try isNear(heard { $0.send("/quat", .float(c), .float(0), .float(-s), .float(0)) }.pose, 0, 20, 0))
  }

  @Test("a phone that stands upright has no angles; on its left side, the left edge is down")
  func phone() throws {
    // Lying on a table, the screen up, is the sensor's identity; upright it is turned by 90° about x.
    let half = Float(0.5).squareRoot()
    let upright = try heard {
      $0.send("/gamerotationvector", .float(half), .float(0), .float(0), .float(half))
    }
    #expect(upright.pose.map { abs($0.pitch) < 1e-3 && abs($0.roll) < 1e-3 } ?? false)
    let flat = try heard { $0.send("/gamerotationvector", .float(0), .float(0), .float(0)) }
    #expect(flat.pose.map { abs($0.pitch + 90) < 0.05 } ?? false)
    // Upright, then by 90° about the axis that looks out of the screen, counterclockwise as seen by its user.
    let turned = try heard {
      $0.send("/gamerotationvector", .float(0.5), .float(-0.5), .float(0.5), .float(0.5))
    }
    #expect(turned.pose.map { abs(abs($0.roll) - 90) < 1e-3 } ?? false)
  }

  @Test("R56: the newest of many packets counts; what tells no pose is dropped without an answer")
  func flood() throws {
    let heard = try heard { sender in
      sender.send([1, 2, 3])
      sender.send("/pinna/stop")
      sender.send("/ypr", .float(.nan), .float(0), .float(0))
      sender.send("/ypr", .float(1))
      sender.send("/quat", .float(0), .float(0), .float(0), .float(0))
      for yaw in 1...40 { sender.send("/ypr", .float(Float(yaw)), .float(0), .float(0)) }
      sender.send("/ypr", .string("ahead"), .float(0), .float(0))
    }
    #expect(isNear(heard.pose, 40, 0, 0) && heard.dropped == 6)
  }

  @Test("a centre at any angle is no angle from then on, and turns about up stay turns about up")
  func centre() {
    let mounted = TrackedPose(yaw: 140, pitch: 35, roll: -20)
    #expect(isNear(mounted.relative(to: mounted), 0, 0, 0))
    let turned = TrackedPose(yaw: -170, pitch: 35, roll: -20)
    #expect(isNear(turned.relative(to: mounted), 50, 0, 0))
    #expect(isNear(turned.relative(to: TrackedPose()), -170, 35, -20))
  }
}
