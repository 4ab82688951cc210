import Glibc
import Text

/// One panel of a `TopViewPlot`: the device as it is held, and the listener from above with the voices around.
struct TopView {
  let panel: TopViewPlot.Panel
  let canvas: any Canvas

  /// Of the listener's head, within the panel.
  private static let listener: SIMD2<Double> = [216, 126]
  private static let device: SIMD2<Double> = [64, 118]
  private static let deviceLength = 66.0
  /// Distance of the voices from the listener.
  private static let radius = 84.0
  private static let headRadius = 22.0
  /// Of the level at which a voice is nearest to the listener, where the distance is the level.
  private static let lowestLevel = -24.0
  private static let nearest = 40.0
  /// A shorter line is hidden by the ring and the mark.
  private static let shortestLine = 2.6 * VoiceMark.ringRadius

  func draw() {
    canvas.text(panel.title, at: [PlotLayout.margin, 12], size: 10.5, isBold: true)
    panel.device.draw(on: canvas, at: Self.device, length: Self.deviceLength)
    for (n, line) in panel.device.caption.enumerated() {
      canvas.text(
        line, at: [Self.device.x, 178 + 11 * Double(n)], anchor: [0.5, 0.5], size: 8, .grey)
    }
    drawGround()
    drawHead()
    drawDevice()
    switch panel.distance {
    case .circle: drawVoices()
    case .level: drawLevels()
    }
  }

  /// The offset from the listener of an azimuth in degrees, positive to the left.
  private func offset(_ azimuth: Double, _ distance: Double = radius) -> SIMD2<Double> {
    let angle = azimuth * .pi / 180
    return distance * [-sin(angle), -cos(angle)]
  }

  private func drawGround() {
    canvas.circle(Self.listener, radius: Self.radius, .lightGrey, width: 1)
    for azimuth in stride(from: 0.0, to: 360, by: 30) {
      canvas.stroke(
        [Self.listener + offset(azimuth, Self.radius - 3), Self.listener + offset(azimuth, Self.radius + 3)],
        .lightGrey, width: 1)
    }
  }

  /// The head from above: nose forward, ears at the sides, and L and R beside them.
  private func drawHead() {
    let nose = [[-7, -20], [0, -30], [7, -20]].map { (corner: SIMD2<Double>) in Self.listener + corner }
    canvas.polygon(nose, .grey)
    canvas.disc(Self.listener, radius: Self.headRadius, .grey)
    for (side, letter) in [(-1.0, "L"), (1.0, "R")] {
      canvas.polygon(
        [[21, -6], [27, -5], [27, 4], [21, 6]].map { (corner: SIMD2<Double>) in
          Self.listener + corner * [side, 1]
        }, .grey)
      canvas.text(
        letter, at: Self.listener + [side * 11, 0], anchor: [0.5, 0.5], size: 14, isBold: true, .white)
    }
  }

  /// Of the device before the listener: as wide as the head, and between it and the voices.
  private static let ground: SIMD2<Double> = [52, 26]

  /// The device from above, in front of the listener, with waves on the side that records.
  private func drawDevice() {
    let size = panel.device.ground
    let scale = min(300, (Self.ground / size).min())
    let half = pointwiseMax(scale * size, [4, 4]) / 2
    let centre = Self.listener - [0, 45]
    canvas.polygon([half, [half.x, -half.y], -half, [-half.x, half.y]].map { centre + $0 }, .black)
    for radius in [6.0, 10, 14] {
      let arc = stride(from: -50.0, through: 50, by: 5).map { centre - [0, half.y - 1] + offset($0, radius) }
      canvas.stroke(arc, .grey, width: 1)
    }
  }

  private func drawVoices() {
    let placed = placedVoices()
    for (voice, mark) in placed {
      let ring = Self.listener + offset(voice.azimuth)
      let colour = voice.verdict == .right ? PlotColour.grey : VoiceMark.colour(voice.verdict)
      VoiceMark.ring(on: canvas, at: ring, voice.verdict == .right ? .black : colour)
      guard ring.distance(to: mark) > Self.shortestLine else { continue }
      let passesHead = ((ring + mark) / 2).distance(to: Self.listener) < 1.6 * Self.headRadius
      VoiceMark.line(on: canvas, from: ring, to: mark, isBent: passesHead, colour)
    }
    for (voice, mark) in placed {
      VoiceMark.draw(voice.verdict, on: canvas, at: mark, radius: min(7, max(4.5, 6 + voice.level / 8)))
      drawExcess(of: voice, at: mark)
    }
  }

  /// By how much a voice came out too loud, beside its mark.
  private func drawExcess(of voice: TopViewPlot.Voice, at mark: SIMD2<Double>) {
    guard let excess = voice.excess else { return }
    // Below a mark at the side, beside one behind: both are within the panel.
    let isBehind = abs(voice.azimuth) > 90
    let place = mark + (isBehind ? [15, 4] : [0, 17])
    let anchor: SIMD2<Double> = isBehind ? [0, 0.5] : voice.azimuth < 0 ? [0.75, 0.5] : [0.5, 0.5]
    canvas.text(
      String(format: "+%.0f dB", excess), at: place, anchor: anchor, size: 8.5, isBold: true,
      VoiceMark.colour(voice.verdict))
  }

  /// Where the mark of each voice is drawn. Of voices that came out at the same place the right ones are on the circle,
  /// the others nearer to the listener.
  private func placedVoices() -> [(voice: TopViewPlot.Voice, mark: SIMD2<Double>)] {
    let ordered = panel.voices.filter { $0.verdict == .right } + panel.voices.filter { $0.verdict != .right }
    var placed: [(voice: TopViewPlot.Voice, mark: SIMD2<Double>)] = []
    for voice in ordered {
      var distance = Self.radius
      func mark() -> SIMD2<Double> { Self.listener + offset(voice.heard, distance) }
      while distance > Self.nearest, placed.contains(where: { $0.mark.distance(to: mark()) < 16 }) {
        distance -= 4
      }
      placed.append((voice, mark()))
    }
    return placed
  }

  private func distance(ofLevel level: Double) -> Double {
    let part = min(1.1, max(0, 1 - level / Self.lowestLevel))
    return Self.nearest + (Self.radius - Self.nearest) * part
  }

  private func drawLevels() {
    for voice in panel.voices {
      if let highest = voice.highestLevel {
        let limit = stride(from: -13.0, through: 13, by: 2).map {
          Self.listener + offset(voice.azimuth + $0, distance(ofLevel: highest))
        }
        canvas.stroke(limit, .black, width: 2)
      } else {
        VoiceMark.ring(on: canvas, at: Self.listener + offset(voice.azimuth))
      }
    }
    for voice in panel.voices {
      let place = Self.listener + offset(voice.azimuth, distance(ofLevel: voice.level))
      VoiceMark.draw(voice.verdict, on: canvas, at: place, radius: 6)
      drawExcess(of: voice, at: place)
    }
  }
}
