import Foundation
import JackTools
import LiveSupport
import PinnaSession
import TestSupport
import Testing

extension LiveGraph {
  /// A session with this graph's pinna.
  func session() -> AudioSession { AudioSession(SocketEngine(environment: home.environment)) }

  /// One that is active, with playAndRecord, and does not mix.
  func activeSession(options: AudioSession.CategoryOptions = [], mode: AudioSession.Mode = .default) throws
    -> AudioSession
  {
    let session = session()
    try session.setCategory(.playAndRecord, mode: mode, options: options)
    try session.setActive(true)
    return session
  }

  /// What of a status only a change may change: all but what time alone does.
  func settled() throws -> NSDictionary {
    var status = try status()
    for key in ["levels", "dspLoad", "xruns", "warnings"] { status[key] = nil }
    for (part, counter) in [("take", "frames"), ("take", "secondsLeft"), ("playback", "framesPlayed")] {
      guard var rest = status[part] as? [String: Any] else { continue }
      rest[counter] = nil
      status[part] = rest
    }
    return status as NSDictionary
  }

  /// Runs `body` while sound goes in over and over, or is played, and holds that what comes out is heard and repeats
  /// to the last bit: that nothing faded, stopped or began. The server must be synchronous, and play `repetition`.
  func expectSameSound(at location: SourceLocation = #_sourceLocation, _ body: () throws -> Void) throws {
    let recorder = try recorder(seconds: 60)
    // Past the fade of what was set before, and what was heard while some ports were not connected yet.
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

  /// Frames after which `expectSameSound` hears the same again: 104 periods of 128. Filters of 32 partitions and more
  /// spread their work over eight periods by the period's number, so that a sum is formed in another order unless as
  /// many periods as eight divides have passed.
  static let repetition = 13_312

  /// A player of noise that repeats after `repetition` frames, started.
  func loopingPlayer() throws -> SignalPlayer {
    var noise = SeededNoise(seed: 13)
    let player = try player(
      try microphones().map { _ in noise.samples(Self.repetition, amplitude: 0.25) }, repeats: true)
    player.start()
    return player
  }

  /// Runs `body`, which throws an error of the session's, and holds that nothing changed: neither what pinna says
  /// nor what the session prefers.
  func expectUnchanged(
    _ session: AudioSession, at location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
  ) throws -> SessionError? {
    let (before, preferences) = (try settled(), session.preferences)
    var caught: SessionError?
    do { try body() } catch let error as SessionError { caught = error }
    #expect(caught != nil, "nothing was refused", sourceLocation: location)
    #expect(try settled() == before, "\(caught?.description ?? "")", sourceLocation: location)
    #expect(session.preferences == preferences, sourceLocation: location)
    if let caught {
      #expect(!caught.description.isEmpty && !caught.description.contains("\n"), sourceLocation: location)
      #expect(caught.localizedDescription == caught.description, sourceLocation: location)
    }
    return caught
  }
}

extension AudioSession {
  /// All that is preferred, as text.
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

/// A phone with a headset beside it, and a line input of the graph's: three kinds of inputs.
enum Handset {
  /// Writes the device and its preset into a home.
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
