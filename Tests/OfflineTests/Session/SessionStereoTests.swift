import Acoustics
import Foundation
import LiveSupport
import PinnaSession
import Presets
import Simulation
import TestSupport
import Testing

extension OfflineTests {
  @Suite("Pickup patterns of a session") struct SessionStereoTests {
    /// The output levels in dB, left and right, for noise from one direction after another with gaps between.
    func levels(_ graph: OfflineGraph, _ device: Device, from directions: [Direction]) throws -> [[Double]] {
      let (burst, gap) = (24_000, 4_800)
      var noise = SeededNoise(seed: 77)
      let signal = BandlimitedSignal(samples: noise.samples(burst, amplitude: 0.2), sampleRate: 48000)
      var channels = [[Float]](repeating: [0.001], count: device.microphones.count)
      for direction in directions {
        let wave = PlaneWave(signal: signal, from: direction)
        for (n, microphone) in device.microphones.enumerated() {
          channels[n] +=
            wave.heard(at: microphone.position, rate: 48000, count: burst)
            + [Float](repeating: 0, count: gap)
        }
      }
      let heard = try graph.capture(channels)
      return directions.indices.map { n in
        let start = 1 + n * (burst + gap) + 200
        return heard.map {
          bandLevel(Array($0[start..<start + burst]), sampleRate: 48000, from: 500, to: 4000)
        }
      }
    }

    func device(_ name: String) throws -> Device {
      try PresetLibrary(folders: [repositoryFolder + "/Presets"]).device(named: name)
    }

    /// The microphones in use: those that cause output when all others are silent.
    func heardMicrophones(_ graph: OfflineGraph, count: Int) throws -> [Int] {
      let noise = SeededNoise.loop(channels: 1)[0].prefix(4000)
      var found: [Int] = []
      for n in 0..<count {
        // The first channel begins with a mark, by which the capture is found.
        var channels = [[Float]](repeating: [Float](repeating: 0, count: 4000), count: count)
        channels[n] = Array(noise)
        channels[0][0] = 0.001
        let heard = try graph.capture(channels)
        if level(heard[0].dropFirst(1000)) > -90 || level(heard[1].dropFirst(1000)) > -90 { found.append(n) }
      }
      return found
    }

    @Test(
      "S7, S8: omnidirectional uses one microphone, cardioid several, subcardioid is wider, stereo uses all"
    )
    func patterns() throws {
      let graph = try OfflineGraph(preset: "ring7", captures: 7)
      let ring = try device("ring7")
      let session = try graph.activeSession()
      let front = try session.source("Front")
      try session.activeInput?.setPreferredDataSource(front)
      let (left, right) = (Direction.plusX, Direction.plusX.opposite)
      let around = [Direction.plusZ, Direction.plusZ.opposite, left, right]

      try front.setPreferredPolarPattern(.omnidirectional)
      let omni = try levels(graph, ring, from: around)
      // Both outputs are alike, up to single precision.
      for level in omni {
        #expect(abs(level[0] - omni[0][0]) < 0.5 && level[0] == level[1], "\(omni)")
      }
      #expect(try heardMicrophones(graph, count: 7).count == 1)

      try front.setPreferredPolarPattern(.cardioid)
      let cardioid = try levels(graph, ring, from: around)
      #expect(cardioid[0][0] - cardioid[1][0] > 8, "\(cardioid)")
      #expect(cardioid[0][0] > cardioid[2][0] && cardioid[2][0] > cardioid[1][0], "\(cardioid)")
      #expect(try heardMicrophones(graph, count: 7).count > 1)

      // The person behind is audible: softer than in front, louder than with a cardioid.
      try front.setPreferredPolarPattern(.subcardioid)
      let wide = try levels(graph, ring, from: around)
      #expect((3...12).contains(wide[0][0] - wide[1][0]), "\(wide)")
      #expect(wide[0][0] - wide[1][0] < cardioid[0][0] - cardioid[1][0] - 3)

      try front.setPreferredPolarPattern(.stereo)
      let stereo = try levels(graph, ring, from: around)
      #expect(stereo[2][0] - stereo[2][1] > 3 && stereo[3][1] - stereo[3][0] > 3, "\(stereo)")
      let inFront = max(stereo[0][0], stereo[0][1]) - max(stereo[1][0], stereo[1][1])
      #expect((1...10).contains(inFront), "\(stereo)")
      #expect(try heardMicrophones(graph, count: 7) == Array(0..<7))
    }

    static let table: [(source: String, orientation: InputOrientation, left: DeviceEdge, right: DeviceEdge)] =
      [
        ("Back", .portrait, .left, .right), ("Back", .portraitUpsideDown, .right, .left),
        ("Back", .landscapeRight, .top, .bottom), ("Back", .landscapeLeft, .bottom, .top),
        ("Front", .portrait, .right, .left), ("Front", .portraitUpsideDown, .left, .right),
        ("Front", .landscapeRight, .bottom, .top), ("Front", .landscapeLeft, .top, .bottom),
      ]

    @Test("S9, S14: the eight cases sound different, each with left and right at the edges of its layout")
    func eightCases() throws {
      let graph = try OfflineGraph(preset: "phone5", captures: 5)
      let phone = try device("phone5")
      let session = try graph.activeSession()
      let edges: [DeviceEdge: Direction] = [
        .left: Direction.plusX.opposite, .right: .plusX, .top: .plusY, .bottom: Direction.plusY.opposite,
      ]
      var sounds: Set<[UInt32]> = []
      var answers: Set<String> = []
      for (name, orientation, left, right) in Self.table {
        let source = try session.source(name)
        try source.setPreferredPolarPattern(.stereo)
        try session.activeInput?.setPreferredDataSource(source)
        let outcome = try session.setPreferredInputOrientation(orientation)
        #expect(outcome.layout == StereoLayout(left: left, right: right), "\(name) \(orientation)")
        #expect(outcome.inputNumberOfChannels == 2 && session.stereoLayout == outcome.layout)
        answers.insert("\(name) \(orientation) \(left) \(right)")
        let heard = try levels(graph, phone, from: [edges[left]!, edges[right]!])
        #expect(
          heard[0][0] - heard[0][1] > 2 && heard[1][1] - heard[1][0] > 2, "\(name) \(orientation): \(heard)")
        let noise = SeededNoise.loop(channels: 5).map { Array($0.prefix(4000)) }
        sounds.insert(try graph.capture(noise).flatMap { $0.map(\.bitPattern) })
      }
      #expect(sounds.count == 8 && answers.count == 8)
    }

    @Test("S10: the input orientation changes no bit of a mono pattern")
    func mono() throws {
      let graph = try OfflineGraph(preset: "phone5", captures: 5)
      let session = try graph.activeSession()
      let front = try session.source("Front")
      try session.activeInput?.setPreferredDataSource(front)
      let noise = SeededNoise.loop(channels: 5).map { Array($0.prefix(8000)) }
      // It ends abruptly, and what follows fades in: from here on, all begin alike.
      _ = try graph.capture(noise)
      for pattern in [PolarPattern.omnidirectional, .cardioid] {
        try front.setPreferredPolarPattern(pattern)
        var sounds: Set<[UInt32]> = []
        for orientation in InputOrientation.allCases {
          let outcome = try session.setPreferredInputOrientation(orientation)
          #expect(outcome.layout == nil && outcome.inputNumberOfChannels == 1)
          sounds.insert(try graph.capture(noise).flatMap { $0.map(\.bitPattern) })
        }
        #expect(sounds.count == 1)
      }
    }

    @Test("S14: the layout picture shows the device as it is held, with L and R at their edges")
    func picture() throws {
      let layout = StereoLayout(left: .top, right: .bottom)
      #expect(
        layout.picture(held: .landscapeRight) == [
          "            right", "       ┌─────────────┐", "       │             │",
          "    top│L           R│bottom", "       │             │", "       └─────────────┘",
          "            left",
        ])
      for (name, orientation, left, right) in Self.table {
        let lines = StereoLayout(left: left, right: right).picture(held: orientation)
        let row = try #require(lines.first { $0.contains("L") && $0.contains("R") })
        let isFront = name == "Front"
        // Seen from the front, the back camera's left is on the left and the front camera's left is on the
        // right.
        #expect((row.firstIndex(of: "L")! < row.firstIndex(of: "R")!) != isFront, "\(row)")
        let names = row.split { " │LR".contains($0) }.map(String.init)
        #expect(names == (isFront ? [right.rawValue, left.rawValue] : [left.rawValue, right.rawValue]))
      }
      let graph = try OfflineGraph(preset: "phone5")
      #expect(try graph.pinna("status", "--picture").output.contains("   left│L     R│right\n"))
    }

    @Test("S23: the seeds' devices ship, and on the phone all eight stereo cases work")
    func devices() throws {
      for (name, sources) in [
        ("phone2", ["Bottom", "Top"]), ("phone3", ["Bottom", "Front", "Back"]),
        ("phone5", ["Bottom", "Front", "Back"]),
      ] {
        let graph = try OfflineGraph(preset: name)
        let session = graph.session()
        try session.setCategory(.record)
        let input = try #require(session.availableInputs?.first { $0.portType == .builtInMic })
        #expect(input.dataSources?.map(\.dataSourceName) == sources)
        let stereo = input.dataSources?.filter { $0.supportedPolarPatterns?.contains(.stereo) == true }
        #expect(stereo?.count == (name == "phone5" ? 2 : 0))
      }
    }
  }
}
