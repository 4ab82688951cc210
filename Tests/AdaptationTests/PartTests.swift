import Acoustics
import Adaptation
import Foundation
import Numerics
import Presets
import Rendering
import Settings
import TestSupport
import Testing

/// Two voices in the free field at known places, one after the other in part.
@Suite("Talkers and room") struct PartTests {
  /// A device among two voices.
  private struct World {
    let device: Device
    let sets: FilterSets
    let model: AdaptiveModel
    let frame: HeadFrame
    var left: [[Float]] = []
    var right: [[Float]] = []

    init(_ name: String) throws {
      device = try PresetLibrary(folders: [repositoryFolder + "/Presets"]).device(named: name)
      sets = try FilterSets(device: device, sampleRate: 48_000)
      model = try AdaptiveModel(device, sampleRate: 48_000)
      frame = device.frame(of: try device.dataSource(named: "Front"), .portrait)
      (left, right) = (voice(45, seed: 1), voice(-60, seed: 2))
    }

    /// Bursts of tones from an azimuth in degrees, left positive: `[microphone][frame]`.
    func voice(_ azimuth: Double, seed: UInt64) -> [[Float]] {
      var noise = SeededNoise(seed: seed)
      let a = azimuth * .pi / 180
      let sound = PlaneWaveSound(sampleRate: 48_000, positions: device.microphones.map(\.position)).samples(
        [frame.device(fromHead: [cos(a), sin(a), 0])], sines: 150, seconds: 4, noise: &noise)
      let rate = azimuth > 0 ? 2.3 : 3.1
      return sound.map { channel in
        channel.enumerated().map { n, sample in
          sample * Float(0.1 * max(0, sin(2 * .pi * rate * Double(n) / 48_000)))
        }
      }
    }

    func sum(_ sign: Float) -> [[Float]] { zip(left, right).map { zip($0, $1).map { $0 + sign * $1 } } }

    /// The outputs of all feeds, one after another.
    func render(_ sound: [[Float]], _ feeds: [FeedSetting], period: Int = 128) throws -> [[Float]] {
      try render(sound, feeds.map { FilterSets.Feed($0) }, period: period)
    }

    func render(
      _ sound: [[Float]], _ feeds: [FilterSets.Feed], onDemand: FilterChoice = FilterChoice(),
      period: Int = 128
    ) throws -> [[Float]] {
      var parts = [sound]
      let all = [FilterSets.Feed(try PartTests.feed(.omnidirectional))] + feeds
      var outputs = [[Float]](repeating: [], count: all.dropFirst().reduce(0) { $0 + $1.channels })
      try sets.render(
        all, of: device, onDemand: onDemand, model: model, period: period, next: { parts.popLast() },
        write: { feeds in
          for (n, output) in feeds.dropFirst().joined().enumerated() { outputs[n] += output }
        })
      return outputs
    }
  }

  private static let world = try! World("respeaker-4mic-hat")
  /// Of more microphones than directions are found with.
  private static let large = try! World("uma16")

  private static func feed(
    _ pattern: PolarPattern, _ part: FeedPart = .whole, room: Double = 0, frame: String? = nil,
    adaptation: Double = 0, wind: Double = 0
  ) throws -> FeedSetting {
    var feed = FeedSetting(
      name: "f", Selection(dataSource: "Front", polarPattern: pattern, inputOrientation: .portrait),
      adaptation: adaptation, wind: wind)
    (feed.part, feed.room, feed.frame) = (part, Decibels(room), try frame.map { try FeedFrame(word: $0) })
    return feed
  }

  private static func energy(_ signal: [Float]) -> Double {
    signal.dropFirst(24_000).reduce(0) { $0 + Double($1) * Double($1) }
  }

  private static func decibels(_ ratio: Double) -> Double { 10 * log10(ratio) }

  @Test("neither a seat nor a number of the list is a rival of the other: both may be one person")
  func rivals() throws {
    let (world, whole) = (
      Self.world, try Self.world.sets.filters(for: Self.feed(.stereo).selection, of: Self.world.device)
    )
    let places = ["anna": SIMD3(1.0, 0, 0), "2": [0.99, 0.1, 0], "ben": [0, 1, 0]].compactMapValues {
      Direction($0)
    }
    func rivals(_ name: String) throws -> Int? {
      let target = try world.model.target(
        try Self.feed(.stereo, .one(name)), whole: whole, delayFrames: world.sets.bank.delayFrames,
        places: places)
      guard case .at(_, let others) = target?.part?.picked else { return nil }
      return others.count
    }
    #expect(try rivals("anna") == 1 && rivals("2") == 0)
  }

  @Test("a frame stays where it is while a listener's head turns")
  func turnedHead() throws {
    let (world, whole) = (
      Self.world, try Self.world.sets.filters(for: Self.feed(.stereo).selection, of: Self.world.device)
    )
    func frame(_ pose: Pose) throws -> FollowedPart.Frame {
      var feed = try Self.feed(.stereo, .talkers, frame: "30,40")
      feed.selection.pose = pose
      let target = try #require(
        try world.model.target(feed, whole: whole, delayFrames: world.sets.bank.delayFrames))
      return try #require(target.part?.frame)
    }
    let (unturned, turned) = (try frame(.none), try frame(Pose(yaw: 70)))
    #expect(turned.centre == unturned.centre && turned.up == unturned.up && turned.cosine == unturned.cosine)
  }

  @Test(
    "talkers and room add up to the whole within −120 dB: patterns, stereo, stereo that follows the sound, without wind",
    arguments: [(PolarPattern.cardioid, 0.0, 0.0), (.stereo, 0, 0), (.stereo, 1, 0), (.stereo, 0.5, 1)],
    [false, true])
  func addUp(_ setting: (pattern: PolarPattern, adaptation: Double, wind: Double), ofMany: Bool) throws {
    let (pattern, adaptation, wind) = setting
    let world = ofMany ? Self.large : Self.world
    let feeds = try [FeedPart.whole, .talkers, .room].map {
      try Self.feed(pattern, $0, adaptation: adaptation, wind: wind)
    }
    // Gusts beside the voices, so that wind has its effect on all parts alike.
    var noise = SeededNoise(seed: 6)
    let sound = world.sum(1).map { channel in
      zip(channel, noise.samples(channel.count, amplitude: wind > 0 ? 0.02 : 0)).map { $0 + $1 }
    }
    let outputs = try world.render(sound, feeds)
    let count = outputs.count / 3
    for n in 0..<count {
      let rest = zip(outputs[n], zip(outputs[count + n], outputs[2 * count + n])).map { $0 - $1.0 - $1.1 }
      let error = Self.decibels(Self.energy(rest) / Self.energy(outputs[n]))
      #expect(error < -120, "\(error) dB")
      #expect(Self.energy(outputs[count + n]) > 0.003 * Self.energy(outputs[n]))
    }
  }

  @Test(
    "a frame lets only voices within it pass, and gives the other one to the room", arguments: [false, true])
  func framed(ofMany: Bool) throws {
    let world = ofMany ? Self.large : Self.world
    let feeds = [
      try Self.feed(.omnidirectional, .talkers, frame: "45,60"),
      try Self.feed(.omnidirectional, .room, frame: "45,60"),
    ]
    let (a, b) = (try world.render(world.sum(1), feeds), try world.render(world.sum(-1), feeds))
    let ratios = (0..<2).map { n in
      let (left, right) = (
        Self.energy(zip(a[n], b[n]).map { $0 + $1 }), Self.energy(zip(a[n], b[n]).map { $0 - $1 })
      )
      return Self.decibels(left / right)
    }
    let before = Self.decibels(Self.energy(world.left[0]) / Self.energy(world.right[0]))
    print(
      "frame: left over right \(ratios[0] - before) dB among talkers, \(ratios[1] - before) dB in the room")
    #expect(ratios[0] - before > 14 && ratios[1] - before < -10, "\(ratios), \(before)")
  }

  @Test("a talker by number is one of the two, and the other number the other")
  func one() throws {
    let feeds = try ["1", "2"].map { try Self.feed(.omnidirectional, .one($0)) }
    let (a, b) = (
      try Self.world.render(Self.world.sum(1), feeds), try Self.world.render(Self.world.sum(-1), feeds)
    )
    let ratios = (0..<2).map { (n: Int) -> Double in
      let sum: [Float] = zip(a[n], b[n]).map(+)
      let difference: [Float] = zip(a[n], b[n]).map(-)
      return Self.decibels(Self.energy(sum) / Self.energy(difference))
    }
    #expect(
      abs(ratios[0] - ratios[1]) > 20 && ratios.contains { $0 > 8 } && ratios.contains { $0 < -8 },
      "\(ratios)")
  }

  @Test("a room 12 dB softer is the talkers and a quarter of the room; at 0 dB it is bit for bit the whole")
  func softer() throws {
    let feeds = [
      try Self.feed(.stereo, .talkers), try Self.feed(.stereo, .room, room: -12),
      try Self.feed(.stereo, room: -12),
      try Self.feed(.stereo, room: 0),
    ]
    let outputs = try Self.world.render(Self.world.sum(1), feeds)
    for n in 0..<2 {
      let rest = zip(outputs[4 + n], zip(outputs[n], outputs[2 + n])).map { $0 - $1.0 - $1.1 }
      #expect(Self.decibels(Self.energy(rest) / Self.energy(outputs[4 + n])) < -120)
    }
    var parts = [Self.world.sum(1)]
    var linear: [[Float]] = [[], []]
    try Self.world.sets.render(
      [FilterSets.Feed(try Self.feed(.stereo))], of: Self.world.device, period: 128,
      next: { parts.popLast() },
      write: { for n in 0..<2 { linear[n] += $0[0][n] } })
    #expect(Array(outputs[6...]) == linear)
  }

  @Test(
    "a named part is the talker nearest to the seat, wherever within 22°, and nobody who is nearer to another seat"
  )
  func named() {
    func direction(_ azimuth: Double) -> SIMD3<Double> {
      [cos(azimuth * .pi / 180), sin(azimuth * .pi / 180), 0]
    }
    func takes(_ sound: Double, seat: Double, others: [Double] = [], talkers: [Double]?) -> Bool {
      var known = Talkers(repeating: nil)
      for (n, azimuth) in (talkers ?? []).enumerated() {
        known[n] = TrackedTalker(identity: n + 1, direction: direction(azimuth))
      }
      let part = FollowedPart(
        talkers: 1, room: 0, picked: .at(direction(seat), others: others.map(direction)))
      return part.takes(direction(sound), talkers == nil ? nil : known)
    }
    // Who sits at 40 + 18°, and is measured 10° off at times.
    #expect(takes(68, seat: 40, talkers: [58]))
    #expect(takes(50, seat: 40, talkers: [58]))
    // Who sits between two seats belongs to the nearer one alone.
    #expect(
      !takes(27, seat: 10, others: [40], talkers: [27]) && takes(27, seat: 40, others: [10], talkers: [27]))
    // Of two talkers around a seat, the farther one is another.
    #expect(takes(42, seat: 40, talkers: [42, 57]) && !takes(57, seat: 40, talkers: [42, 57]))
    // The first words of who sits beside somebody known.
    #expect(takes(46, seat: 40, others: [60], talkers: [60]))
    // What nobody is known to have: within 20° of the seat, and nearer to no other.
    for talkers in [nil, [], [-90.0]] {
      #expect(takes(55, seat: 40, talkers: talkers) && !takes(65, seat: 40, talkers: talkers))
      #expect(!takes(55, seat: 40, others: [60], talkers: talkers))
    }
  }

  @Test(
    "talkers stay within 3 dB while the head turns every 50 ms, of stereo that follows the sound, of B-format, and without all microphones' directions",
    arguments: [(PolarPattern.ambix1, 0.0, false), (.ambix1, 0, true), (.stereo, 1, false)])
  func turning(_ setting: (pattern: PolarPattern, adaptation: Double, ofMany: Bool)) throws {
    let world = setting.ofMany ? Self.large : Self.world
    var feed = try Self.feed(setting.pattern, .talkers, adaptation: setting.adaptation)
    var choice = FilterChoice()
    let poses = (0..<40).map { Pose(yaw: setting.pattern == .stereo ? Double($0 % 6) : Double(5 * $0)) }
    for pose in poses {
      var selection = feed.selection
      selection.pose = pose
      for key in FilterChoice.keys(for: selection, of: world.device, sampleRate: 48_000, without: [])
      where !choice.contains(key) {
        let own = try #require(try world.device.ownDevice(of: key.selection))
        choice.keep(try FilterSets(device: own, sampleRate: 48_000), for: key)
      }
    }
    feed.selection.follows = [.yaw]
    func render(_ poses: [Pose]) throws -> [[Float]] {
      var play = FilterSets.Feed(feed)
      play.substitutions = poses.enumerated().map { step, pose in
        var turned = feed.selection
        (turned.follows, turned.pose) = ([], pose)
        return FilterSets.Substitution(frame: 48_000 + 2400 * step, filters: nil, turned: turned)
      }
      return try world.render(world.left, [play], onDemand: choice)
    }
    let (still, turned) = (try render([poses[0]]), try render(poses))
    // Each window has an end of one pose and the beginning of the next.
    let differences = stride(from: 48_000 - 480, to: 144_000 - 960, by: 2400).map { start in
      func energy(_ outputs: [[Float]]) -> Double {
        outputs.reduce(1e-9) { sum, output in
          output[start..<start + 960].reduce(sum) { $0 + Double($1) * Double($1) }
        }
      }
      return (loud: energy(still), change: Self.decibels(energy(turned) / energy(still)))
    }
    let loudest = differences.map(\.loud).max()!
    let heard = differences.filter { $0.loud > 0.01 * loudest }.map(\.change)
    print("talkers while the head turns: \(heard.min()!) to \(heard.max()!) dB")
    #expect(heard.count > 10 && heard.min()! > -3 && heard.max()! < 3, "\(heard)")
  }

  @Test("in diffuse noise, talkers are at least 8 dB below the room")
  func diffuse() throws {
    var noise = SeededNoise(seed: 9)
    let sound = PlaneWaveSound(sampleRate: 48_000, positions: Self.world.device.microphones.map(\.position))
      .samples(fibonacciSphere(40), sines: 60, seconds: 2, noise: &noise)
    let outputs = try Self.world.render(
      sound, [try Self.feed(.omnidirectional, .talkers), try Self.feed(.omnidirectional, .room)])
    let ratio = Self.decibels(Self.energy(outputs[0]) / Self.energy(outputs[1]))
    print("diffuse noise: talkers over room \(ratio) dB")
    #expect(ratio < -8, "\(ratio) dB")
  }
}
