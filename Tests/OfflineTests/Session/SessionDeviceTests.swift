import AudioFiles
import LiveSupport
import PinnaSession
import TestSupport
import Testing

extension OfflineTests {
  /// S4, S5, S12, S16, S23 for the seeds' telephones with two and three microphones.
  @Suite("The seeds' devices in a session") struct SessionDeviceTests {
    struct Source: Sendable {
      let id: UInt32
      let name: String
      let location: Location
      let orientation: Orientation
      var patterns: [PolarPattern]?
    }

    static let devices: [(preset: String, sources: [Source])] = [
      (
        "phone2",
        [
          Source(id: 1_835_216_945, name: "Bottom", location: .lower, orientation: .bottom),
          Source(id: 1_835_216_946, name: "Top", location: .upper, orientation: .top),
        ]
      ),
      (
        "phone3",
        [
          Source(id: 1_835_216_945, name: "Bottom", location: .lower, orientation: .bottom),
          Source(
            id: 1_835_216_946, name: "Front", location: .upper, orientation: .front,
            patterns: [.omnidirectional, .cardioid]),
          Source(
            id: 1_835_216_947, name: "Back", location: .upper, orientation: .back,
            patterns: [.omnidirectional, .subcardioid]),
        ]
      ),
    ]

    @Test(
      "S23: the seeds' devices have their data sources and patterns, no stereo, and one channel in every orientation",
      arguments: devices)
    func device(preset: String, sources: [Source]) throws {
      let graph = try OfflineGraph(preset: preset, captures: sources.count)
      let session = try graph.activeSession()
      try graph.play(SeededNoise.loop(channels: sources.count))
      let input = try #require(session.activeInput)
      let found = try #require(input.dataSources)
      #expect(input.portType == .builtInMic && input.selectedDataSource?.dataSourceName == "Bottom")
      #expect(found.map(\.dataSourceID) == sources.map(\.id))
      #expect(found.map(\.dataSourceName) == sources.map(\.name))
      #expect(found.map(\.location) == sources.map(\.location))
      #expect(found.map(\.orientation) == sources.map(\.orientation))
      #expect(found.map(\.supportedPolarPatterns) == sources.map(\.patterns))
      for source in found {
        let error = try graph.expectUnchanged(session) { try source.setPreferredPolarPattern(.stereo) }
        #expect(
          error
            == .unsupportedPolarPattern(
              .stereo, dataSource: source.dataSourceName, supported: source.supportedPolarPatterns ?? []))
        // The mono fallback: every data source has one channel and no layout, in every orientation.
        for pattern in source.supportedPolarPatterns ?? [.omnidirectional] {
          try source.setPreferredPolarPattern(pattern)
          try input.setPreferredDataSource(source)
          #expect(input.selectedDataSource == source)
          for orientation in InputOrientation.allCases {
            let outcome = try session.setPreferredInputOrientation(orientation)
            #expect(outcome.inputOrientation == orientation && outcome.kept == nil)
            #expect(outcome.inputNumberOfChannels == 1 && outcome.layout == nil)
          }
        }
        #expect(session.inputNumberOfChannels == 1 && session.stereoLayout == nil)
      }
      let recorder = AudioRecorder(session)
      let path = try recorder.record(to: graph.home.takesFolder)
      let take = try #require(try recorder.stop())
      #expect(take.numberOfChannels == 1)
      #expect(try AudioClip(path: path).channels.count == 1)
    }
  }
}
