import Acoustics

/// Devices as in the presets, built in code.
public enum TestDevices {
  public static let firstOrder: [PolarPattern] = [.subcardioid, .cardioid, .supercardioid, .hypercardioid]

  public static func microphones(_ list: [(String, Double, Double, Double)]) -> [Microphone] {
    list.map { Microphone(name: $0.0, position: Position($0.1, $0.2, $0.3) / 1000) }
  }

  public static func source(
    _ name: String, id: UInt32 = 1_835_216_945, location: DataSource.Location? = nil,
    _ orientation: DataSource.Orientation, _ forward: Direction, microphones: [Int],
    _ patterns: [PolarPattern],
    stereo: [InputOrientation] = []
  ) -> DataSource {
    DataSource(
      name: name, id: id, location: location, orientation: orientation, forward: forward,
      microphones: microphones, polarPatterns: patterns, stereoOrientations: stereo)
  }

  /// Where phone5's file has them: relative to the phone's centre.
  public static let phone5Microphones = microphones([
    ("bottom-left", -25, -73.5, 0), ("bottom-right", 25, -73.5, 0), ("front", 0, 65, 4),
    ("back", 24, 62, -4), ("top", 0, 73.5, 0),
  ])

  /// - Parameter body: the phone's box, unless a test needs the free field.
  public static func phone5(body: Body = .box(size: [0.072, 0.147, 0.008])) -> Device {
    let patterns = [.omnidirectional] + firstOrder + [.stereo]
    return try! Device(
      name: "phone5", title: "Phone with five microphones", body: body,
      microphones: phone5Microphones,
      dataSources: [
        source(
          "Bottom", location: .lower, .bottom, Direction.plusY.opposite, microphones: [0], [.omnidirectional]),
        source(
          "Front", id: 1_835_216_946, location: .upper, .front, .plusZ, microphones: [2, 3, 4], patterns,
          stereo: InputOrientation.allCases),
        source(
          "Back", id: 1_835_216_947, location: .upper, .back, Direction.plusZ.opposite,
          microphones: [3, 2, 4],
          patterns, stereo: InputOrientation.allCases),
      ])
  }

  /// Seven microphones on a table, in the x–z plane.
  public static func ring7() -> Device {
    let half = 43 * 3.0.squareRoot() / 2
    let patterns = [.omnidirectional] + firstOrder + [.figureEight]
    let upright: [InputOrientation] = [.portrait, .portraitUpsideDown]
    let all = Array(0..<7)
    return try! Device(
      name: "ring7", title: "Ring of seven microphones", body: .free,
      microphones: microphones([
        ("ring-1", 43, 0, 0), ("ring-2", 21.5, 0, half), ("ring-3", -21.5, 0, half), ("ring-4", -43, 0, 0),
        ("ring-5", -21.5, 0, -half), ("ring-6", 21.5, 0, -half), ("centre", 0, 0, 0),
      ]),
      dataSources: [
        source("Front", .front, .plusZ, microphones: all, patterns + [.stereo], stereo: upright),
        source(
          "Back", .back, Direction.plusZ.opposite, microphones: all, patterns + [.stereo], stereo: upright),
      ])
  }

  public static func linear8() -> Device {
    let all = Array(0..<8)
    let upright: [InputOrientation] = [.portrait, .portraitUpsideDown]
    return try! Device(
      name: "linear8", title: "Line of eight microphones", body: .free,
      microphones: microphones(all.map { ("line-\($0 + 1)", (Double($0) - 3.5) * 70, 0, 0) }),
      dataSources: [
        source("Front", .front, .plusZ, microphones: all, [.omnidirectional, .stereo], stereo: upright),
        source(
          "Back", .back, Direction.plusZ.opposite, microphones: all, [.omnidirectional, .stereo],
          stereo: upright),
      ])
  }

  /// Two microphones 8 mm apart that point along +z, with one cardioid data source: the smallest beamformer.
  public static func pair(
    patterns: [PolarPattern] = [.omnidirectional, .cardioid], stereo: [InputOrientation] = []
  ) -> Device {
    try! Device(
      name: "pair", title: "Pair", body: .free,
      microphones: microphones([("front", 0, 65, 4), ("back", 0, 65, -4)]),
      dataSources: [source("Front", .front, .plusZ, microphones: [0, 1], patterns, stereo: stereo)])
  }
}
