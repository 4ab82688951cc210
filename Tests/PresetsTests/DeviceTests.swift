import Acoustics
import TestSupport
import Testing

/// What is no device, whoever builds it; `DeviceFileErrorTests` show where files are told of it.
@Suite("Devices") struct DeviceTests {
  struct Impossible: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let body: Body
    let microphones: [Microphone]
    let source: DataSource?

    init(
      _ message: String, _ body: Body, _ microphones: [Microphone] = DeviceTests.pair,
      _ source: DataSource? = nil
    ) {
      testDescription = message
      self.body = body
      self.microphones = microphones
      self.source = source
    }
  }

  static let pair = TestDevices.pair().microphones

  static func microphone(_ position: Position) -> [Microphone] { [Microphone(name: "a", position: position)] }

  static func source(
    _ microphones: [Int], _ pattern: PolarPattern, forward: Direction = .plusZ
  ) -> DataSource {
    TestDevices.source("Front", .front, forward, microphones: microphones, [pattern], stereo: [.portrait])
  }

  static let impossible = [
    Impossible("x has 0 microphones; use 1 to 64", .free, []),
    Impossible(
      "x has 65 microphones; use 1 to 64", .free, (0...64).flatMap { microphone([0.01 * Double($0), 0, 0]) }),
    Impossible("the body of x needs a radius of 5 to 2000 mm", .sphere(radius: 0), microphone([0, 0, 0])),
    Impossible("the body of x needs a radius of 5 to 2000 mm", .sphere(radius: 9), microphone([0, 0, 9])),
    Impossible(
      "the body of x needs a radius of 5 to 2000 mm", .cylinder(radius: .nan), microphone([0, 0, 1])),
    Impossible(
      "the body of x needs edges of 1 to 500 mm", .box(size: [0.1, 0.6, 0.1]), microphone([0, 0, 0.05])),
    Impossible("microphone a of x is more than 5000 mm from the origin", .free, microphone([0, 0, 73])),
    Impossible("microphone a of x is more than 5000 mm from the origin", .free, microphone([.nan, 0, 0])),
    Impossible(
      "microphone a of x is 40.0 mm inside the body; move it to the surface, whose nearest point is [0.0, 0.0, 40.0] mm",
      .sphere(radius: 0.04), microphone([0, 0, 0])),
    Impossible(
      "microphone a of x is 50.0 mm inside the body", .cylinder(radius: 0.05), microphone([0, 0.2, 0])),
    Impossible(
      "microphone a of x is 2.0 mm outside the body", .box(size: [0.1, 0.1, 0.1]), microphone([0, 0.052, 0])),
    Impossible(
      "microphone a of x is directional, which is modelled only with", .sphere(radius: 0.04),
      [
        Microphone(
          name: "a", position: [0, 0, 0.04], capsule: Capsule(omnidirectionalPart: 0.5, facing: .plusZ))
      ]),
    Impossible(
      "microphone b of x is at the position of a", .free,
      microphone([0, 0, 0]) + [Microphone(name: "b", position: [0, 0, 0.0004])]),
    Impossible(
      "microphone b of x is on capture channel 1, like a", .free,
      microphone([0, 0, 0]) + [Microphone(name: "b", position: [0, 0, 0.1], channel: 1)]),
    Impossible(
      "data source Front of x must list microphones of the device", .free, pair, source([2], .omnidirectional)
    ),
    Impossible(
      "data source Front of x must list microphones of the device", .free, pair, source([0, 0], .cardioid)),
    Impossible(
      "data source Front of x has a pattern that is cardioid, which needs at least two", .free, pair,
      source([0], .cardioid)),
    Impossible(
      "data source Front of x has a pattern that is stereo, which needs at least two", .free,
      microphone([0, 0, 0]), source([0], .stereo)),
    Impossible(
      "data source Front of x has an orientation that is portrait, whose up is parallel to forward", .free,
      pair,
      source([0], .stereo, forward: .plusY)),
  ]

  @Test("an impossible device is refused by its initialiser", arguments: impossible)
  func refused(_ impossible: Impossible) {
    let error = #expect(throws: DeviceFault.self) {
      try Device(
        name: "x", title: "", body: impossible.body, microphones: impossible.microphones,
        dataSources: impossible.source.map { [$0] } ?? [])
    }
    let message = error?.description ?? ""
    #expect(message.hasPrefix(impossible.testDescription), "\(message)")
  }

  @Test("the limits themselves are allowed, and an array can be drawn far from its origin") func limits()
    throws
  {
    for radius in [RigidSphere.radii.lowerBound, RigidSphere.radii.upperBound] {
      for body in [Body.sphere(radius: radius), .cylinder(radius: radius)] {
        _ = try Device(
          name: "x", title: "", body: body, microphones: Self.microphone([0, 0, radius + 0.0009]),
          dataSources: [])
      }
    }
    let far = try Device(
      name: "x", title: "", body: .free,
      microphones: Self.microphone([-5, 0, 0]) + [Microphone(name: "b", position: [5, 5, 5])], dataSources: []
    )
    #expect(far.microphones[1].position == [5, 2.5, 2.5])
  }
}
