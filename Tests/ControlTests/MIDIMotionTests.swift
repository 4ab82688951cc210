import Presets
import TestSupport
import Testing

@Suite("What faders, encoders and pads set") struct MIDIMotionTests {
  /// Gain from −40 to 6 dB, and an angle, as later settings have.
  static let ranges = [
    MIDIMap.Range(limits: -60...24, unit: "dB", from: -40, to: 6, click: 1),
    MIDIMap.Range(limits: -180...180, unit: "°", from: 180, to: -180, click: 5),
  ]

  static func control(_ range: MIDIMap.Range) -> MIDIMap.Controller {
    MIDIMap.Controller(.controller(7), .setting(.gain), scale: .range(range))
  }

  static let sources = ["Bottom", "Front", "Back"]

  /// The value that a fader at `wire` stands for, as docs/midi.md describes it, to a tenth.
  static func position(_ range: MIDIMap.Range, _ wire: Int) -> Double {
    range.from + (range.to - range.from) * Double(wire) / 127
  }

  @Test(
    "a fader that stands elsewhere waits until it passes the value, from either side, and then leads",
    arguments: ranges)
  func softTakeover(range: MIDIMap.Range) throws {
    let control = Self.control(range)
    for (start, ascending) in [(0, true), (127, false)] {
      let middle = Self.position(range, 64)
      var present = "\(middle)"
      var last: Int?
      let path = ascending ? Array(start...127) : (0...start).reversed()
      for wire in path {
        let effect = control.effect(at: wire, last: last, present: present, dataSources: Self.sources)
        let hasPassed = ascending ? wire >= 63 : wire <= 65
        switch effect {
        case .set(let value):
          #expect(hasPassed, "\(wire) took over at \(value)")
          #expect(abs(try #require(Double(value)) - Self.position(range, wire)) <= 0.051)
          present = value
        case .waits: #expect(!hasPassed, "\(wire) still waits for \(present)")
        case .nothing: #expect(hasPassed)
        }
        last = wire
      }
      #expect(Double(present) == (ascending ? range.to : range.from))
    }
  }

  @Test("encoders and pads go on from the present data source, in whatever case the file names it")
  func cases() {
    let control = MIDIMap.Controller(
      .note(1), .setting(.dataSource), scale: .words(["front", "BACK", "left"]))
    #expect(control.effect(presses: 1, present: "Back", dataSources: []) == .set("left"))
    #expect(control.effect(clicks: 1, present: "Front", dataSources: []) == .set("BACK"))
    #expect(control.effect(clicks: -1, present: "Front", dataSources: []) == .nothing)
  }

  @Test("a fader takes over at its end if the value is beyond it")
  func beyond() {
    let control = Self.control(Self.ranges[0])
    func effect(_ wire: Int, last: Int?) -> MIDIEffect {
      control.effect(at: wire, last: last, present: "20", dataSources: Self.sources)
    }
    #expect(effect(100, last: 90) == .waits("-3.8"))
    #expect(effect(127, last: 100) == .set("6.0"))
  }

  @Test(
    "R53: a fader never makes the value leap: it moves as far as the fader did, whatever others set meanwhile"
  )
  func leaps() throws {
    var random = SeededNoise(seed: 53)
    var worst = 0.0
    let count = 200_000
    let range = Self.ranges[0]
    let control = Self.control(range)
    var (present, wire) = (0.0, 64)
    var last: Int?
    for n in 0..<count {
      // A preset or another program sets it; the device is connected again; the fader moves.
      if n % 50 == 0 { present = (Double.random(in: -60...24, using: &random) * 10).rounded() / 10 }
      if n % 330 == 0 { (last, wire) = (nil, Int.random(in: 0...127, using: &random)) }
      wire = min(max(wire + Int.random(in: -9...9, using: &random), 0), 127)
      let effect = control.effect(at: wire, last: last, present: "\(present)", dataSources: Self.sources)
      if case .set(let word) = effect {
        let value = try #require(Double(word))
        let moved = abs(Self.position(range, wire) - Self.position(range, last ?? wire))
        // What lies beyond a fader's ends can only come back.
        let within = min(max(present, -40), 6)
        worst = max(worst, abs(value - within) - moved)
        present = value
      }
      last = wire
    }
    // One of 127 steps of 46 dB, and 0.1 dB of rounding at both ends.
    let limit = 46.0 / 127 + 0.2
    #expect(worst > 0 && worst <= limit)
    Faults.report(
      "R53", done: "\(count) motions of a fader while others set the gain: farthest beyond its own motion",
      measured: "\((worst * 100).rounded() / 100) dB", limit: "≤ 0.56 dB", kept: worst <= limit)
  }

  @Test(
    "R53: the three encodings of encoders are read as their devices write them: one and two clicks, up and down",
    arguments: [
      // Ableton: "2's comp", "bin offset", "signed bit"; Reaper: relative 1, 2, 3.
      (MIDIMap.RelativeEncoding.twosComplement, [1, 2, 127, 126]), (.binaryOffset, [65, 66, 63, 62]),
      (.signBit, [1, 2, 65, 66]),
    ])
  func encodings(encoding: MIDIMap.RelativeEncoding, wires: [Int]) {
    #expect(wires.map(encoding.clicks) == [1, 2, -1, -2])
  }

  @Test("an encoder adds its clicks, stays between its ends, and comes back from beyond them")
  func clicks() {
    let control = Self.control(Self.ranges[0])
    for (clicks, present, expected) in [
      (3, "0.0", MIDIEffect.set("3.0")), (-1, "3.0", .set("2.0")), (5, "4.5", .set("6.0")),
      (1, "6.0", .nothing),
      (1, "20", .nothing), (-1, "20", .set("19.0")), (-10_000, "0", .set("-40.0")), (1, "-60", .set("-59.0")),
      (-1, "-60", .nothing), (0, "1", .nothing),
    ] {
      #expect(control.effect(clicks: clicks, present: present, dataSources: Self.sources) == expected)
    }
    // From 180 to −180: up is towards the second end.
    let angle = Self.control(Self.ranges[1])
    #expect(angle.effect(clicks: 2, present: "90.0", dataSources: Self.sources) == .set("80.0"))
  }

  @Test(
    "a knob looks round the circle by 5°, to the right as it turns to the right, and leads at both of its ends"
  )
  func azimuth() {
    let knob = MIDIMap.Controller(.controller(1), .lookAzimuth)
    func effect(_ wire: Int, last: Int?, _ present: String) -> MIDIEffect {
      knob.effect(at: wire, last: last, present: present, dataSources: [])
    }
    var (present, values) = ("180", [180.0])
    for wire in 0...127 {
      guard case .set(let word) = effect(wire, last: wire == 0 ? nil : wire - 1, present) else { continue }
      present = word
      values.append(Double(word)!)
    }
    #expect(values == stride(from: 180, through: -180, by: -5).map(\.self))
    // Both ends are behind.
    for wire in [0, 127] { #expect(effect(wire, last: wire, "180") == .nothing) }
    #expect(effect(125, last: 127, "180") == .set("-175.0"))
    #expect(effect(2, last: 0, "180") == .set("175.0"))
    #expect(effect(126, last: 127, "178") == .set("-175.0"))
    // The right half only: behind is at its end.
    guard case .range(var half) = MIDIMap.Target.lookAzimuth.standardScale else { return }
    (half.from, half.to) = (0, -180)
    let right = MIDIMap.Controller(.controller(1), .lookAzimuth, scale: .range(half))
    #expect(right.effect(at: 120, last: 127, present: "180", dataSources: []) == .set("-170.0"))
    #expect(right.effect(at: 10, last: 9, present: "180", dataSources: []) == .waits("-15.0"))
    #expect(effect(64, last: 63, "90") == .waits("0.0"))
  }

  @Test(
    "an encoder turns the azimuth round and round, between given ends to and fro, and the elevation up and down"
  )
  func circle() {
    func effect(_ target: MIDIMap.Target, _ clicks: Int, _ present: String, _ scale: MIDIMap.Scale? = nil)
      -> MIDIEffect
    {
      MIDIMap.Controller(.controller(1), target, scale: scale, encoding: .signBit)
        .effect(clicks: clicks, present: present, dataSources: [])
    }
    #expect(effect(.lookAzimuth, 1, "0") == .set("-5.0"))
    #expect(effect(.lookAzimuth, -2, "175") == .set("-175.0"))
    #expect(effect(.lookAzimuth, 1, "-178") == .set("177.0"))
    #expect(effect(.lookAzimuth, 144, "60") == .nothing)
    #expect(effect(.lookElevation, 3, "80") == .set("90.0"))
    #expect(effect(.lookElevation, 1, "90") == .nothing)
    guard case .range(var half) = MIDIMap.Target.lookAzimuth.standardScale else { return }
    (half.from, half.to) = (90, -90)
    #expect(effect(.lookAzimuth, 1, "-90", .range(half)) == .nothing)
    #expect(effect(.lookAzimuth, -1, "-90", .range(half)) == .set("-85.0"))
  }

  @Test("an encoder steps through choices and stops at the ends; a pad goes round")
  func choices() {
    let control = MIDIMap.Controller(.controller(16), .setting(.dataSource), encoding: .twosComplement)
    for (clicks, present, expected) in [
      (1, "Bottom", MIDIEffect.set("Front")), (9, "Front", .set("Back")), (1, "Back", .nothing),
      (-1, "Back", .set("Front")), (-1, "Bottom", .nothing), (1, "elsewhere", .set("Bottom")),
      (-1, "elsewhere", .set("Back")),
    ] {
      #expect(control.effect(clicks: clicks, present: present, dataSources: Self.sources) == expected)
    }
    let pad = MIDIMap.Controller(.note(36), .setting(.dataSource))
    for (presses, present, expected) in [
      (1, "Bottom", "Front"), (1, "Back", "Bottom"), (2, "Front", "Bottom"), (1, "elsewhere", "Bottom"),
    ] {
      #expect(
        pad.effect(presses: presses, present: present, dataSources: Self.sources) == .set(expected))
    }
    let one = MIDIMap.Controller(.note(36), .setting(.orientation), scale: .words(["portrait"]))
    #expect(one.effect(presses: 5, present: "landscapeLeft", dataSources: []) == .set("portrait"))
  }

  @Test("a pad switches over, as often as it is pressed; one without a number to set does nothing")
  func toggles() {
    let mute = MIDIMap.Controller(.note(36), .setting(.mute))
    #expect(mute.effect(presses: 1, present: "off", dataSources: []) == .set("on"))
    #expect(mute.effect(presses: 1, present: "on", dataSources: []) == .set("off"))
    #expect(mute.effect(presses: 2, present: "on", dataSources: []) == .nothing)
    #expect(mute.effect(presses: 3, present: "on", dataSources: []) == .set("off"))
    let marker = MIDIMap.Controller(.note(37), .marker)
    #expect(marker.effect(presses: 1, present: "", dataSources: []) == .set(""))
    #expect(Self.control(Self.ranges[0]).effect(presses: 1, present: "0", dataSources: []) == .nothing)
  }

  @Test(
    "R53: a knob chooses where one part passes into the next, a button at its ends, and a nudge does nothing")
  func knobs() {
    let knob = MIDIMap.Controller(.controller(20), .setting(.dataSource))
    // 128 / 3 = 42.7: the parts begin at 43 and 86.
    for (last, wire, expected) in [
      (nil as Int?, 50, MIDIEffect.nothing), (50, 51, .nothing), (85, 86, .set("Back")),
      (86, 85, .set("Front")),
      (nil, 127, .set("Back")), (nil, 0, .set("Bottom")), (127, 127, .set("Back")), (127, 0, .set("Bottom")),
      (10, 120, .set("Back")),
    ] {
      #expect(knob.effect(at: wire, last: last, present: "Front", dataSources: Self.sources) == expected)
    }
  }
}
