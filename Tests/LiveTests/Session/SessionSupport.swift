import Foundation
import JackTools
import LiveSupport
import PinnaSession
import TestSupport
import Testing

extension LiveGraph {
  /// A session with this graph's Pinna.
  func session() -> AudioSession { AudioSession(SocketEngine(environment: home.environment)) }

  /// An active session with playAndRecord that does not mix.
  func activeSession(options: AudioSession.CategoryOptions = [], mode: AudioSession.Mode = .default) throws
    -> AudioSession
  {
    let session = session()
    try session.setCategory(.playAndRecord, mode: mode, options: options)
    try session.setActive(true)
    return session
  }

  /// Runs `body` during continuous input or playback and expects an audible output that repeats to the last
  /// bit: nothing faded, stopped or began. The server must be synchronous, and the input must repeat after
  /// `repetition` frames.
  func expectSameSound(at location: SourceLocation = #_sourceLocation, _ body: () throws -> Void) throws {
    let recorder = try recorder(seconds: 60)
    // After the fade of earlier changes, and after all ports are connected.
    try recorder.wait(frames: 4800)
    let start = recorder.frames
    try body()
    let end = recorder.frames + 2 * Self.repetition
    #expect(waitUntil(seconds: 10) { recorder.frames >= end }, sourceLocation: location)
    for channel in recorder.everything.prefix(2).map({ $0[start..<end] }) {
      #expect(level(channel) > -60, "nothing is heard", sourceLocation: location)
      let changed = zip(channel, channel.dropFirst(Self.repetition)).count { $0.bitPattern != $1.bitPattern }
      #expect(changed == 0, "\(changed) of \(channel.count) frames", sourceLocation: location)
    }
  }

  /// The length of `expectSameSound`'s loop in frames: 112 periods of 128. Filters with a tail spread their
  /// work over eight or sixteen periods by the period's number. Only after a multiple of sixteen periods is a sum
  /// formed in the same order.
  static let repetition = 14_336

  /// A running player of noise that repeats after `repetition` frames.
  func loopingPlayer() throws -> SignalPlayer {
    var noise = SeededNoise(seed: 13)
    let player = try player(
      try microphones().map { _ in noise.samples(Self.repetition, amplitude: 0.25) }, repeats: true)
    player.start()
    return player
  }

  /// Runs `body`, expects it to throw a session error, and expects unchanged status and preferences.
  func expectUnchanged(
    _ session: AudioSession, at location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
  ) throws -> SessionError? {
    let (before, preferences) = (try stableStatus(), session.preferences)
    var caught: SessionError?
    do { try body() } catch let error as SessionError { caught = error }
    #expect(caught != nil, "nothing was refused", sourceLocation: location)
    #expect(try stableStatus() == before, "\(caught?.description ?? "")", sourceLocation: location)
    #expect(session.preferences == preferences, sourceLocation: location)
    if let caught {
      #expect(!caught.description.isEmpty && !caught.description.contains("\n"), sourceLocation: location)
      #expect(caught.localizedDescription == caught.description, sourceLocation: location)
    }
    return caught
  }
}

extension AudioSession {
  /// All preferences, as text.
  var preferences: [String] {
    let sources = availableInputs?.flatMap { $0.dataSources ?? [] } ?? []
    return [
      category.rawValue, mode.rawValue, "\(categoryOptions.rawValue)", "\(isActive)",
      preferredInput?.uid ?? "",
      preferredInputOrientation?.rawValue ?? "", "\(preferredSampleRate)", "\(preferredIOBufferDuration)",
    ] + (availableInputs ?? []).map { $0.preferredDataSource?.dataSourceName ?? "" }
      + sources.map { $0.preferredPolarPattern?.rawValue ?? "" }
  }

  var activeInput: PortDescription? { currentRoute.inputs.first }

  func source(_ name: String) throws -> DataSourceDescription {
    try #require(activeInput?.dataSources?.first { $0.dataSourceName == name })
  }
}

/// A phone with a headset and a line input of the graph's: three kinds of inputs.
enum Handset {
  /// Writes the device and its preset into a new home.
  static func home() throws -> PinnaHome {
    let home = try PinnaHome()
    try home.folder.write(
      """
      title: Handset
      body: {box: [72, 147, 8]}
      microphones:
        bottom: [0, -73.5, 0]
        front: [0, 65, 4]
        back: [0, 65, -4]
      dataSources:
        Bottom: {location: lower, forward: -y, microphones: [bottom], polarPatterns: [omnidirectional]}
        Front:
          {location: upper, forward: +z, microphones: [front, back], polarPatterns: [omnidirectional, cardioid]}
      inputs:
        wired: {title: Wired headset, portType: headsetMic, body: free, microphones: {boom: [0, 0, 0]}}
        hands-free:
          title: Hands-free
          portType: bluetoothHFP
          body: free
          microphones: {mouth: [0, 0, 0]}
          playbackPorts: ["system:playback_3", "system:playback_4"]
      """, to: "config/pinna/devices/handset.yaml")
    try home.folder.write(
      """
      title: Handset
      device: handset
      dataSource: Front
      polarPattern: cardioid
      inputOrientation: portrait
      """, to: "config/pinna/handset.yaml")
    return home
  }
}
