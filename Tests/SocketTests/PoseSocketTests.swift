import Acoustics
import Control
import Foundation
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
    // Whose socket it is shows as long as it is there.
    return withExtendedLifetime(sender) { (socket.newest(after: present), socket.droppedPackets) }
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

  @Test("doubles are angles as floats are")
  func doubles() throws {
    let numbers = [30, -10, 5].flatMap { number in
      withUnsafeBytes(of: Double(number).bitPattern.bigEndian) { Array($0) }
    }
    let heard = try heard { $0.send(Array("/ypr\0\0\0\0,ddd\0\0\0\0".utf8) + numbers) }
    #expect(isNear(heard.pose, 30, -10, 5) && heard.dropped == 0)
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

  /// As proc(5) describes it: user 1001's socket that is bound to 127.0.0.1:50000, 1002's to all addresses and 50001, 1003's
  /// of IPv6 to 50001 of all, 1004's to 127.0.0.1 through an IPv6 socket, 1005's to 127.0.0.2:50000.
  private static let table = """
       sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
       1: 0100007F:C350 00000000:0000 07 00000000:00000000 00:00000000 00000000  1001        0 559 2 0 0
       2: 00000000:C351 0100007F:2329 01 00000000:00000000 00:00000000 00000000  1002        0 560 2 0 0
       3: 00000000000000000000000000000000:C351 00000000000000000000000000000000:0000 07 00000000:00000000 00:00000000 00000000  1003        0 561 2 0 0
       4: 0000000000000000FFFF00000100007F:C352 00000000000000000000000000000000:0000 07 00000000:00000000 00:00000000 00000000  1004        0 562 2 0 0
       5: 0200007F:C350 00000000:0000 07 00000000:00000000 00:00000000 00000000  1005        0 563 2 0 0
    """

  @Test("R56: the kernel's table names every user who may have sent from an address")
  func owners() throws {
    func owners(_ host: String, _ port: UInt16) throws -> [uid_t] {
      SenderUser.owners(of: try #require(UDPAddress(host, port: port)), in: Self.table)
    }
    #expect(try owners("127.0.0.1", 50_000) == [1001] && owners("127.0.0.2", 50_000) == [1005])
    #expect(try owners("127.0.0.1", 50_001) == [1002, 1003] && owners("127.0.0.1", 50_002) == [1004])
    #expect(try owners("::1", 50_001) == [1002, 1003] && owners("::1", 50_000) == [])
    #expect(try owners("127.0.0.1", 50_003) == [])
  }

  @Test(
    "R56: another user's poses count for nothing unless they are asked for, which is said once",
    .enabled(if: getuid() == 0, "only root can become another user"),
    arguments: ["own", "any", "127.0.0.1", "127.0.0.2"])
  func strangers(whom: String) throws {
    let trusted = try #require(PoseSocket.Trusted(whom))
    let socket = try PoseSocket(port: 0, isInRadians: false, from: trusted)
    let port = UInt16(socket.address.description.split(separator: ":")[1])!
    // /ypr ,fff 32 0 0, from a socket that stays open until its input ends.
    let text = #"/ypr\0\0\0\0,fff\0\0\0\0B\0\0\0\0\0\0\0\0\0\0\0"#
    let stranger = try Program(
      "/usr/bin/setpriv",
      [
        "--reuid=65534", "--regid=65534", "--clear-groups", "/bin/bash", "-c",
        "exec 3<>/dev/udp/127.0.0.1/\(port); printf '\(text)' >&3; sleep 60",
      ])
    defer { stranger.stop() }
    var pose: TrackedPose?
    _ = waitUntil(seconds: 10) {
      pose = socket.newest(after: TrackedPose()) ?? pose
      return pose != nil || socket.droppedPackets > 0
    }
    let isHeard = whom == "any" || whom == "127.0.0.1"
    #expect(isHeard ? isNear(pose, 32, 0, 0) : pose == nil)
    #expect(socket.droppedPackets == (isHeard ? 0 : 1) && (socket.problem == nil) == isHeard)
    if !isHeard { #expect(socket.problem?.contains("--pose-from") == true) }
  }

  @Test("an address that is no pose is named, the first one alone, until a pose comes")
  func problems() throws {
    let socket = try PoseSocket(port: 0, isInRadians: false)
    let sender = UDPSender(port: UInt16(socket.address.description.split(separator: ":")[1])!)
    func problem(_ path: String, _ arguments: OSCMessage.Argument...) -> String? {
      sender.send(OSCMessage(path, arguments).packet)
      _ = socket.newest(after: TrackedPose())
      return socket.problem
    }
    let first = problem("/head/rotation", .float(1))
    #expect(first?.contains("/head/rotation is no address of a pose") == true, "\(first ?? "")")
    #expect(first?.contains("/ypr, /adm/lis/ypr") == true)
    #expect(problem("/battery", .float(1)) == first)
    #expect(problem("/ypr", .float(1), .float(2), .float(3)) == nil)
    let short = problem("/ypr", .float(1))
    #expect(short?.contains("/ypr takes yaw, pitch, roll") == true, "\(short ?? "")")
    withExtendedLifetime(sender) {}
  }

  @Test("a centre at any angle is no angle from then on, and turns about up stay turns about up")
  func centre() {
    var mounting = TrackerMounting()
    let mounted = TrackedPose(yaw: 140, pitch: 35, roll: -20)
    let turned = TrackedPose(yaw: -170, pitch: 35, roll: -20)
    #expect(isNear(mounting.pose(turned), -170, 35, -20))
    let isFirst = mounting.take(mounted, as: .centre)
    #expect(isFirst)
    #expect(isNear(mounting.pose(mounted), 0, 0, 0))
    #expect(isNear(mounting.pose(turned), 50, 0, 0))
  }

  /// A quaternion w, x, y, z.
  private func turn(_ axis: SIMD3<Double>, _ degrees: Double) -> SIMD4<Double> {
    let (half, unit) = (degrees * .pi / 360, axis / axis.length)
    return SIMD4(cos(half), sin(half) * unit.x, sin(half) * unit.y, sin(half) * unit.z)
  }

  /// The rotation that does `b`, then `a`.
  private func after(_ a: SIMD4<Double>, _ b: SIMD4<Double>) -> SIMD4<Double> {
    let (v, u) = (SIMD3(a[1], a[2], a[3]), SIMD3(b[1], b[2], b[3]))
    let w = a[0] * u + b[0] * v + v.cross(u)
    return SIMD4(a[0] * b[0] - v.dot(u), w.x, w.y, w.z)
  }

  @Test(
    "a phone that lies flat on the head, or stands in front of the chest, or hangs upside down, tells turns, nods and tilts",
    arguments: [
      [0, 1, 0, 1], [1, 0, 0, 1], [0, -1, 0, 1], [1, 0, 0, 90], [1, 0, 0, 88], [1, 0, 0, 180], [0, 0, 1, 0],
    ])
  func flat(mounted: [Double]) throws {
    // The phone's axes: x right, y towards the top edge, z out of the screen; the wearer looks along y of the room.
    let start = turn([mounted[0], mounted[1], mounted[2]], mounted[3])
    func pose(_ q: SIMD4<Double>) throws -> TrackedPose {
      try #require(TrackedPose(rotationVector: q[1], q[2], q[3], w: q[0]))
    }
    var mounting = TrackerMounting()
    let isCentred = mounting.take(try pose(start), as: .centre)
    #expect(isCentred)
    for (axis, yaw, pitch, roll) in [
      ([0, 0, 1], 25, 0, 0), ([0, 1, 0], 0, 0, 25), ([1, 0, 0], 0, 25, 0),
    ] as [(SIMD3<Double>, Double, Double, Double)] {
      let found = mounting.pose(try pose(after(turn(axis, 25), start)))
      #expect(isWithin(1.5, found, yaw, pitch, roll), "\(mounted): \(found)")
    }
  }

  private func isWithin(
    _ degrees: Double, _ pose: TrackedPose, _ yaw: Double, _ pitch: Double, _ roll: Double
  )
    -> Bool
  {
    [(pose.yaw, yaw), (pose.pitch, pitch), (pose.roll, roll)].allSatisfy {
      abs(remainder($0 - $1, 360)) < degrees
    }
  }

  @Test("exactly upright, a phone's turns about up are yaw")
  func vertical() throws {
    for yaw in [0.0, 30, -120] {
      let q = turn([0, 0, 1], yaw)
      let pose = try #require(TrackedPose(rotationVector: q[1], q[2], q[3], w: q[0]))
      #expect(abs(pose.pitch + 90) < 0.05 && pose.roll == 0)
      #expect(abs(remainder(pose.yaw - (yaw + 90), 360)) < 1e-3, "\(pose)")
    }
  }

  @Test("straight ahead, a nod and a turn tell any mounting, also of a tracker that does not know what is up")
  func mounting() throws {
    var noise = SeededNoise(seed: 56)
    func random() -> Double { Double.random(in: -1...1, using: &noise) }
    func rotation() -> SIMD4<Double> { turn([random(), random(), random() + 1e-3], 180 * random()) }
    for _ in 0..<200 {
      let (room, mount) = (rotation(), rotation())
      func tracked(_ head: SIMD4<Double>) throws -> TrackedPose {
        let q = after(room, after(head, mount))
        return try #require(TrackedPose(w: q[0], x: q[1], y: q[2], z: q[3]))
      }
      // The wearer's axes: x forward, y left, z up.
      let start = turn([0, 0, 1], 0)
      var mounting = TrackerMounting()
      let down = try tracked(turn([0, 1, 0], 20 + 10 * random()))
      let isEarly = mounting.take(down, as: .nod)
      #expect(!isEarly)
      let isStraight = mounting.take(try tracked(start), as: .centre)
      #expect(isStraight)
      let isSmall = mounting.take(try tracked(turn([0, 1, 0], 5)), as: .nod)
      #expect(!isSmall)
      let isNod = mounting.take(down, as: .nod)
      #expect(isNod)
      let isTurn = mounting.take(try tracked(turn([0, 0, 1], 40 + 20 * random())), as: .turn)
      #expect(isTurn)
      for _ in 0..<5 {
        let (yaw, pitch, roll) = (170 * random(), 80 * random(), 80 * random())
        let head = after(after(turn([0, 0, 1], yaw), turn([0, -1, 0], pitch)), turn([1, 0, 0], roll))
        let found = mounting.pose(try tracked(head))
        #expect(isWithin(0.01, found, yaw, pitch, roll), "\(found), \(yaw) \(pitch) \(roll)")
      }
      // A new centre keeps the mounting.
      let aside = turn([0, 0, 1], 70)
      let isAgain = mounting.take(try tracked(aside), as: .centre)
      #expect(isAgain)
      #expect(isWithin(0.01, mounting.pose(try tracked(after(aside, turn([0, 1, 0], 30)))), 0, -30, 0))
    }
  }

  @Test("axes name each angle once, exchange them, and turn their signs")
  func axes() throws {
    var mounting = TrackerMounting()
    let pose = TrackedPose(yaw: 30)
    for (word, yaw, pitch, roll) in [
      ("yaw,pitch,roll", 30.0, 0.0, 0.0), ("-yaw,pitch,roll", -30, 0, 0), ("roll,yaw,pitch", 0, 30, 0),
      ("pitch,roll,-yaw", 0, 0, -30),
    ] {
      mounting.axes = try #require(TrackerMounting.Axes(word))
      #expect(isNear(mounting.pose(pose), yaw, pitch, roll), "\(word)")
    }
    for word in ["", "yaw", "yaw,pitch", "yaw,yaw,roll", "yaw,pitch,roll,yaw", "--yaw,pitch,roll", "x,y,z"] {
      #expect(TrackerMounting.Axes(word) == nil, "\(word)")
    }
  }
}
