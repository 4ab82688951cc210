import Foundation
import Messages
import TestSupport

/// A running `pinna` in a graph without a server, for one test: everything of it is real but libjack, whose place the
/// library of `Tests/OfflineJack` takes. Frames pass on a virtual clock, eight times as fast as sound, and no period is
/// ever missed or late; what Pinna does within seconds follows the machine's clock.
public final class OfflineGraph: PinnaGraph {
  /// Whether this machine can compile that library.
  public static let isPossible = Preload.compiler != nil

  public let home: PinnaHome
  public private(set) var program: Program
  public let server: OfflineServer
  public var isSynchronous: Bool { true }
  public let sampleRate: Int
  public let period: Int
  private let arguments: [String]
  private let environment: [String: String]
  private let captures: Int

  /// Returns when Pinna answers and its first fade is over.
  /// - Parameters:
  ///   - options: further options of `pinna run`.
  ///   - environment: additions to its environment.
  ///   - captures, playbacks: the graph's physical ports.
  ///   - speed: of the virtual clock, in seconds per second.
  ///   - inFreewheel: whether Pinna takes it for freewheel: then its callback waits while the disk takes no more, and
  ///     frames take no time.
  ///   - isPipeWire: whether it is PipeWire, with the faults of its libjack.
  public init(
    preset: String, sampleRate: Int = 48000, period: Int = 128, home: PinnaHome? = nil,
    options: [String] = [], environment: [String: String] = [:], captures: Int = 0, playbacks: Int = 0,
    speed: Int = 8, inFreewheel: Bool = true, isPipeWire: Bool = false
  ) throws {
    let home = try home ?? PinnaHome()
    self.home = home
    (self.sampleRate, self.period, self.captures) = (sampleRate, period, captures)
    server = try OfflineServer(
      home: home, sampleRate: sampleRate, period: period, captures: captures, playbacks: playbacks,
      speed: speed, inFreewheel: inFreewheel, isPipeWire: isPipeWire)
    arguments = ["--server", server.name, "--preset", preset] + options
    self.environment = server.environment.merging(environment) { $1 }
    program = try home.start(arguments, self.environment)
    try awaitAnswer()
  }

  deinit { program.stop() }

  /// Starts `pinna run` with the same arguments again after it has ended.
  /// - Parameter options: further ones, for this time.
  public func restart(_ options: [String] = []) throws {
    program = try home.start(arguments + options, environment)
    try awaitAnswer()
  }

  // MARK: The graph

  /// Sends a command to the library (`command` in libjack.c), and returns its answer.
  @discardableResult
  public func command(_ words: String...) throws -> String { try server.command(words) }

  /// Ends the server, as Pinna sees it.
  public func killServer() throws { try server.kill() }

  public func restartServer() { server.start() }

  /// The connections, as pairs of full port names.
  public func connections() throws -> Set<[String]> { try server.connections() }

  /// The full names of the ports that Pinna has and of the graph's own.
  public func ports() throws -> Set<String> { Set(try server.ports()) }

  public func hasPort(_ name: String) throws -> Bool { try ports().contains(name) }

  /// The ports that `port` is connected to.
  public func peers(of port: String) throws -> [String] { try server.peers(of: port) }

  /// Stops the server or lets it continue. Meanwhile no periods run, and what asks it for a change waits.
  public func freeze(_ isOn: Bool) throws { try command("freeze", isOn ? "1" : "0") }

  /// Lets a graph that stands still run exactly so many frames, rounded up to a period, however busy the machine is.
  public func run(frames: Int) throws {
    let start = UInt32(try frame())
    try command("run", "\(frames)")
    let isOver = try waitUntil(seconds: 60 + Double(frames) / Double(sampleRate)) {
      Int(UInt32(try frame()) &- start) >= frames
    }
    guard isOver else { throw SupportError("\(frames) frames do not pass") }
  }

  /// Present frame time.
  public func frame() throws -> Int { Int(try command("frame")) ?? 0 }

  /// Waits until the graph has run so many more frames.
  public func wait(frames: Int) throws {
    let start = UInt32(try frame())
    guard try waitUntil(seconds: 60, { Int(UInt32(try frame()) &- start) >= frames }) else {
      throw SupportError("\(frames) frames do not pass within 60 s")
    }
  }

  /// Sends a MIDI message to Pinna's control port.
  public func send(midi bytes: [UInt8]) throws {
    try command("midi", "pinna:control", bytes.map { String(format: "%02x", $0) }.joined())
  }

  public func requestPeriod(_ frames: Int) throws { try command("period", "\(frames)") }

  // MARK: Sound

  /// Lets the microphones hear `channels`, again and again or once. The graph needs as many capture ports.
  public func play(_ channels: [[Float]], repeats: Bool = true) throws {
    guard channels.count <= captures else { throw SupportError("the graph has too few capture ports") }
    let path = home.folder.path + "/sound.f32"
    let bytes = channels.reduce(into: Data()) { data, channel in
      channel.withUnsafeBytes { data.append(contentsOf: $0) }
    }
    try bytes.write(to: URL(filePath: path))
    for (n, microphone) in try microphones().prefix(channels.count).enumerated() {
      try command("connect", "system:capture_\(n + 1)", "pinna:\(microphone)")
    }
    try command("sound", path, "\(channels.count)", repeats ? "again" : "once")
  }

  /// Lets a microphone hear the frame time, as `FrameClock` codes it.
  public func playClock(to microphone: Int = 0) throws {
    try command("connect", FrameClock.port, "pinna:" + microphones()[microphone])
  }

  /// What the outputs, and `more` ports of Pinna or the graph, play until `body` ends. Shape: `[channel][frame]`.
  public func record(_ more: [String] = [], _ body: () throws -> Void) throws -> [[Float]] {
    let (path, ports) = (home.folder.path + "/recorded-", ["pinna:out_left", "pinna:out_right"] + more)
    try server.command(["record", path] + ports)
    try body()
    try command("record")
    return try ports.indices.map { channel in
      try Data(contentsOf: URL(filePath: "\(path)\(channel)")).withUnsafeBytes {
        Array($0.bindMemory(to: Float.self))
      }
    }
  }

  /// The outputs, left and right, for the input `channels`, with the length of the input.
  public func capture(_ channels: [[Float]]) throws -> [[Float]] {
    let count = channels[0].count
    let everything = try record(["system:capture_1"]) {
      try play(channels, repeats: false)
      try wait(frames: count + 8192)
    }
    guard let start = everything[2].firstIndex(where: { $0 != 0 }),
      let lead = channels[0].firstIndex(where: { $0 != 0 }), start >= lead
    else { throw SupportError("the graph plays nothing") }
    return everything.prefix(2).map { Array($0[(start - lead)..<(start - lead + count)]) }
  }

  /// Loops noise at all microphones that repeats after `repetition` frames.
  public func playNoise() throws {
    var noise = SeededNoise(seed: 13)
    try play(try microphones().map { _ in noise.samples(Self.repetition, amplitude: 0.25) })
  }

  /// The length of `playNoise` in frames: 112 periods of 128. Filters with a tail spread their work over eight or sixteen
  /// periods by the period's number. Only after a multiple of sixteen periods is a sum formed in the same order.
  public static let repetition = 14_336
}
