import AudioFiles
import Foundation
import LiveSupport
import Numerics
import TestSupport
import Testing

/// B-format as WAV, CAF and .amb, judged by closed forms and by other programs.
@Suite("Files of B-format") struct AmbisonicFileTests {
  let home: VerbHome
  init() throws { home = try VerbHome() }

  // MARK: Channels

  private static func sn3d(order: Int, at directions: [SIMD3<Double>]) -> [[Double]] {
    let count = (order + 1) * (order + 1)
    let values = realSphericalHarmonics(order: order, at: directions)
    return directions.indices.map { d in
      (0..<count).map { n in
        let l = Double(n).squareRoot().rounded(.down)
        return values[d * count + n] * (4 * Double.pi / (2 * l + 1)).squareRoot()
      }
    }
  }

  /// W X Y Z R S T U V K L M N O P Q at an azimuth and an elevation in radians.
  /// - Source: D. G. Malham, Higher order Ambisonic systems (2003), table of Furse-Malham encoding.
  private static func furseMalham(_ a: Double, _ e: Double) -> [Double] {
    let (s, c) = (sin(e), cos(e))
    let l = (135.0 / 256).squareRoot() * c * (5 * s * s - 1)
    let n = (27.0 / 4).squareRoot() * s * c * c
    return [
      (1.0 / 2).squareRoot(), cos(a) * c, sin(a) * c, s, (3 * s * s - 1) / 2, cos(a) * sin(2 * e),
      sin(a) * sin(2 * e), cos(2 * a) * c * c, sin(2 * a) * c * c, s * (5 * s * s - 3) / 2, l * cos(a),
      l * sin(a), n * cos(2 * a), n * sin(2 * a), cos(3 * a) * c * c * c, sin(3 * a) * c * c * c,
    ]
  }

  @Test("FuMa channels are those of Furse and Malham in every direction, up to order 3", arguments: 1...3)
  func fuma(order: Int) {
    let format = AmbisonicFormat(order: order, normalisation: .fuma)
    for azimuth in stride(from: -3.0, through: 3, by: 0.7) {
      for elevation in stride(from: -1.5, through: 1.5, by: 0.37) {
        let direction: SIMD3 = [
          cos(azimuth) * cos(elevation), sin(azimuth) * cos(elevation), sin(elevation),
        ]
        let ambix = Self.sn3d(order: order, at: [direction])[0].map { [Float($0)] }
        let expected = Self.furseMalham(azimuth, elevation)
        let channels = format.channels(of: ambix)
        #expect(channels.count == (order + 1) * (order + 1))
        for (channel, value) in zip(channels, expected) { #expect(abs(Double(channel[0]) - value) < 3e-7) }
      }
    }
  }

  @Test("N3D channels have unit power on the average over all directions", arguments: 1...4)
  func n3d(order: Int) {
    let directions = fibonacciSphere(20_000)
    let values = Self.sn3d(order: order, at: directions)
    let format = AmbisonicFormat(order: order, normalisation: .n3d)
    for (channel, scale) in format.channels.enumerated() {
      #expect(scale.number == channel)
      let power = values.reduce(0) { $0 + $1[channel] * $1[channel] } / Double(values.count)
      #expect(abs(power * scale.factor * scale.factor - 1) < 1e-3)
    }
  }

  // MARK: Files

  /// A script of the standard library alone: the samples of a file as AmbiX in doubles, by what the file itself says.
  private static let reader = """
    import struct, sys
    def chunks(d, caf):
        p = 8 if caf else 12
        while p + 8 <= len(d):
            name, n = d[p:p+4], struct.unpack('>q' if caf else '<I', d[p+4:p+(12 if caf else 8)])[0]
            p += 12 if caf else 8
            yield name, d[p:p+n]
            p += n if caf else n + n % 2
    def ambix(path):
        d = open(path, 'rb').read()
        caf = d[:4] == b'caff'
        c = dict(reversed(list(chunks(d, caf))))
        if caf:
            assert c[b'desc'][8:12] == b'lpcm', c[b'desc']
            flags, _, _, n, bits = struct.unpack('>5I', c[b'desc'][12:32])
            assert bits == 32 and flags & 1
            raw = c[b'data'][4:]
            x = struct.unpack(('<' if flags & 2 else '>') + '%df' % (len(raw) // 4), raw)
            uuid = c[b'uuid']
            assert uuid[:16].hex() == '1ad318c300e55576be2d0dca2460bc89'
            matrix = [[float(i == j) for j in range(n)] for i in range(n)]
            if len(uuid) > 16:
                assert struct.unpack('>II', uuid[16:24]) == (n, n)
                f = struct.unpack('>%df' % (n * n), uuid[24:])
                matrix = [f[i * n:i * n + n] for i in range(n)]
        else:
            n = struct.unpack('<H', c[b'fmt '][2:4])[0]
            raw = c[b'data']
            x = struct.unpack('<%df' % (len(raw) // 4), raw)
            matrix = [[float(i == j) for j in range(n)] for i in range(n)]
            if path.endswith('.amb'):
                assert c[b'fmt '][24:40].hex() == '030000002107d3118644c8c1ca000000', c[b'fmt ']
                w = 2 ** .5
                s, q, o, p = (3 / 4) ** .5, (32 / 45) ** .5, 5 ** .5 / 3, (5 / 8) ** .5
                order = [(0, w), (3, 1), (1, 1), (2, 1), (6, 1), (7, s), (5, s), (8, s), (4, s),
                         (12, 1), (13, q), (11, q), (14, o), (10, o), (15, p), (9, p)]
                matrix = [[0.0] * n for _ in range(n)]
                for i, (acn, gain) in enumerate(order[:n]): matrix[acn][i] = gain
        frames = [x[i:i + n] for i in range(0, len(x), n)]
        return [[sum(m * s for m, s in zip(row, f) if m) for f in frames] for row in matrix]
    a, b = ambix(sys.argv[1]), ambix(sys.argv[2])
    assert len(a) == len(b) and all(len(x) == len(y) for x, y in zip(a, b)), (len(a), len(b))
    print(len(a), len(a[0]), max(abs(x - y) for c, d in zip(a, b) for x, y in zip(c, d)),
          max(abs(x) for c in a for x in c))
    """

  /// The largest difference of two files as AmbiX, relative to the largest sample.
  private func difference(_ a: String, _ b: String) throws -> (channels: Int, frames: Int, relative: Double) {
    let outcome = try Program.run("/usr/bin/python3", ["-c", Self.reader, a, b])
    try #require(outcome.status == 0, "\(outcome)")
    let words = outcome.output.split(whereSeparator: \.isWhitespace).map { Double($0) ?? .nan }
    return (Int(words[0]), Int(words[1]), words[2] / words[3])
  }

  private func write(_ format: AmbisonicFormat, _ ambix: [[Float]], _ name: String) throws -> String {
    let path = home.path + "/" + name
    let output = try SoundOutput(
      path: path, channels: ambix.count, sampleRate: 48000, areMicrophones: true, ambisonics: format)
    try output.write(format.channels(of: ambix))
    try output.close()
    return path
  }

  private static func noise(_ channels: Int) -> [[Float]] {
    return SeededNoise.channels(channels, 1000, amplitude: 0.3, seed: 39)
  }

  @Test(
    "a reader that follows what a file says of itself gets AmbiX back, within the rounding of floats",
    arguments: [
      ("amb", AmbisonicNormalisation.fuma, 1...3), ("caf", .sn3d, 1...4), ("caf", .n3d, 1...4),
      ("wav", .sn3d, 1...4),
    ])
  func roundTrip(ending: String, normalisation: AmbisonicNormalisation, orders: ClosedRange<Int>) throws {
    for order in orders {
      let ambix = Self.noise((order + 1) * (order + 1))
      let plain = home.path + "/plain.wav"
      try AudioClip(sampleRate: 48000, channels: ambix).write(wav: plain)
      let path = try write(
        AmbisonicFormat(order: order, normalisation: normalisation), ambix, "b.\(ending)")
      let result = try difference(path, plain)
      #expect(result.channels == ambix.count && result.frames == 1000)
      // A sample is rounded once when it is scaled, and once more where a factor stands in the file.
      #expect(result.relative < 1.3e-7, "order \(order): \(result.relative)")
      #expect(try AudioFileReader(path: path).comment?.contains("order \(order)") == true)
    }
  }

  @Test(
    "libambix finds the order and the matrix of each file",
    .enabled(if: access("/usr/bin/ambix-info", X_OK) == 0, "libambix-utils is missing"), arguments: 1...4)
  func libambix(order: Int) throws {
    let ambix = Self.noise((order + 1) * (order + 1))
    for (normalisation, kind) in [(AmbisonicNormalisation.sn3d, "BASIC"), (.n3d, "EXTENDED")] {
      let path = try write(AmbisonicFormat(order: order, normalisation: normalisation), ambix, "b.caf")
      let outcome = try Program.run("/usr/bin/ambix-info", [path])
      let text = outcome.output + outcome.error
      #expect(outcome.status == 0 && text.contains("(\(kind))"), "\(outcome)")
      #expect(text.contains("Frames\t: 1000") && text.contains("Samplerate\t: 48000"), "\(outcome)")
      #expect(text.contains("Ambisonics channels\t: \(ambix.count)\n"), "\(outcome)")
      #expect(text.contains("Non-Ambisonics channels\t: 0"), "\(outcome)")
      if normalisation == .n3d { #expect(text.contains("[\(ambix.count)x\(ambix.count)]"), "\(outcome)") }
    }
  }

  @Test(
    "other programs find the channels, the rate and the length of each file",
    arguments: [
      (
        "/usr/bin/ffprobe",
        ["-v", "error", "-show_entries", "stream=channels,sample_rate:format_tags=comment"]
      ),
      ("/usr/bin/soxi", []), ("/usr/bin/sndfile-info", []),
    ].filter { access($0.0, X_OK) == 0 })
  func others(program: String, options: [String]) throws {
    for (order, ending, normalisation) in [
      (1, "amb", AmbisonicNormalisation.fuma), (3, "amb", .fuma), (1, "caf", .sn3d), (4, "caf", .n3d),
      (2, "wav", .n3d), (1, "flac", .sn3d),
    ] {
      let count = (order + 1) * (order + 1)
      let path = try write(
        AmbisonicFormat(order: order, normalisation: normalisation), Self.noise(count), "b.\(ending)")
      let outcome = try Program.run(program, options + [path])
      #expect(outcome.status == 0, "\(outcome)")
      let found = outcome.output.matches(of: /[Cc]hannels *[:=] *([0-9]+)/).map { Int($0.1) }
      #expect(found.first == count && outcome.output.contains("48000"), "\(path): \(outcome)")
      if program.contains("ffprobe") {
        #expect(outcome.output.contains("Ambisonics of order \(order)"), "\(outcome)")
      }
      if program.contains("sndfile"), ending == "amb" {
        #expect(outcome.output.contains("(Ambisonic B)"), "\(outcome)")
      }
    }
  }

  // MARK: pinna render

  private func render(_ words: String...) throws -> Program.Outcome {
    try home.pinna(["render", "--force"] + words)
  }

  @Test("render writes one sound to WAV, CAF and .amb, and says how its channels are ordered and scaled")
  func files() throws {
    let (input, plain) = (home.path + "/in.wav", home.path + "/plain.wav")
    try AudioClip(sampleRate: 48000, channels: Self.noise(4)).write(wav: input)
    #expect(try render("--preset", "tetra", "--format", "ambix", input, plain).status == 0)
    for (name, words, normalisation, order) in [
      ("b.amb", [], "fuma", "fuma"), ("b.AMB", ["--normalisation", "FuMa"], "fuma", "fuma"),
      ("b.caf", [], "sn3d", "acn"), ("n.caf", ["--normalisation", "n3d"], "n3d", "acn"),
      ("s.wav", ["--normalisation", "sn3d"], "sn3d", "acn"),
      ("n.wav", ["--normalisation", "n3d"], "n3d", "acn"),
    ] {
      let path = home.path + "/" + name
      let outcome = try home.pinna(
        ["render", "--force", "--preset", "tetra", "--format", "ambix", "--json"] + words + [input, path])
      let document = try outcome.json()
      #expect(outcome.status == 0, "\(outcome)")
      #expect(document["normalisation"] as? String == normalisation, "\(outcome)")
      #expect(document["channelOrder"] as? String == order, "\(outcome)")
      guard name != "n.wav", name != "b.AMB" else { continue }
      let result = try difference(path, plain)
      #expect(result.channels == 4 && result.frames == 1000 && result.relative < 1.3e-7, "\(result)")
      // It is no recording of microphones.
      let again = try render("--preset", "tetra", path, home.path + "/again.wav")
      #expect(name == "s.wav" || again.status == 1 && again.error.contains("B-format"), "\(again)")
    }
    let (n3d, sn3d) = try (AudioClip(path: home.path + "/n.wav"), AudioClip(path: plain))
    for (channel, factor) in zip(0..<4, [1, 3.0.squareRoot(), 3.0.squareRoot(), 3.0.squareRoot()]) {
      #expect(n3d.channels[channel] == sn3d.channels[channel].map { Float(Double($0) * factor) })
    }
  }

  @Test("B-format is not written as Opus, which couples channels; the sentence says so, and nothing is left")
  func opus() throws {
    let input = home.path + "/in.wav"
    try AudioClip(sampleRate: 48000, channels: Self.noise(4)).write(wav: input)
    let outcome = try render("--preset", "tetra", "--format", "ambix", input, home.path + "/b.opus")
    #expect(outcome.status == 1 && outcome.isOneSentence, "\(outcome)")
    #expect(outcome.error.contains("couple the channels of B-format") && outcome.error.contains(".wav"))
    #expect(!home.contents("").contains { $0.hasPrefix("b.") })
    #expect(try render("--preset", "tetra", "--format", "ambix", input, home.path + "/b.flac").status == 0)
  }

  /// A phone's data sources, of which the first looks down.
  private static let phone = """
    format: 2
    title: Like a phone
    body: {sphere: 80}
    microphones:
      left-end: {position: [-80, 0, 0]}
      right-end: {position: [80, 0, 0]}
    dataSources:
      Bottom: {forward: -y, microphones: all, polarPatterns: [omnidirectional]}
      Front: {forward: +z, microphones: all, polarPatterns: [omnidirectional]}
      Back: {forward: -z, microphones: all, polarPatterns: [omnidirectional]}

    """

  @Test(
    "B-format of a device looks where its preset looks, or else horizontally, in portrait, unless something else is given"
  )
  func front() throws {
    try home.home.folder.write(Self.phone, to: "config/pinna/devices/phone.yaml")
    let (input, output) = (home.path + "/in.wav", home.path + "/out.wav")
    try AudioClip(sampleRate: 48000, channels: Self.noise(2)).write(wav: input)
    func source(_ words: String...) throws -> String? {
      let outcome = try home.pinna(
        ["render", "--force", "--device", "phone", "--format", "ambix", "--json"] + words + [input, output])
      return try outcome.json()["dataSource"] as? String
    }
    func reported() throws -> String? {
      let outcome = try home.pinna(
        "report", "--device", "phone", "--format", "ambix", "--draws", "0", "--json")
      return (try outcome.json()["cases"] as? [[String: Any]])?.first?["dataSource"] as? String
    }
    #expect(try source() == "Front" && reported() == "Front")
    #expect(try source("--data-source", "Back") == "Back")
    let turned = try home.pinna(
      "render", "--force", "--device", "phone", "--format", "ambix", "--orientation", "portraitUpsideDown",
      "--json",
      input,
      output)
    #expect(try turned.json()["inputOrientation"] as? String == "portraitUpsideDown", "\(turned)")
    let text = try render("--device", "phone", "--format", "ambix", input, output)
    #expect(text.output.contains("ACN order, SN3D; phone: Front, ambix of order 1"), "\(text)")
    let preset = PinnaHome.preset(of: "phone").replacing("dataSource: Front", with: "dataSource: Back")
    try home.home.folder.write(preset, to: "config/pinna/phone.yaml")
    #expect(try source() == "Back" && reported() == "Back")
  }

  @Test("what no file can be is refused in one sentence, and nothing is written")
  func refusals() throws {
    let input = home.path + "/in.wav"
    try AudioClip(sampleRate: 48000, channels: Self.noise(4)).write(wav: input)
    for (name, words) in [
      ("b.amb", ["--format", "ambix", "--normalisation", "sn3d"]),
      ("b.amb", ["--format", "ambix", "--normalisation", "n3d"]),
      ("b.amb", ["--format", "ambix", "--order", "4"]),
      ("b.wav", ["--format", "ambix", "--normalisation", "fuma"]),
      ("b.caf", ["--format", "ambix", "--normalisation", "fuma"]),
      ("b.wav", ["--format", "ambix", "--normalisation", "maxn"]),
      ("b.wav", ["--normalisation", "sn3d"]), ("b.amb", []), ("b.caf", []),
    ] {
      let outcome = try home.pinna(
        ["render", "--force", "--preset", "tetra"] + words + [input, home.path + "/" + name])
      #expect(outcome.status == 2 && outcome.isOneSentence, "\(name) \(words): \(outcome)")
      #expect(!home.contents(".").contains { $0.hasPrefix("b.") })
    }
    let batch = try home.pinna(
      "render", "--takes", home.path, "--into", home.path + "/out", "--format", "ambix", "--normalisation",
      "fuma")
    #expect(batch.status == 2 && batch.isOneSentence, "\(batch)")
  }

  @Test("a render that is interrupted leaves no file of its name", arguments: ["b.caf", "b.amb"])
  func interrupted(name: String) throws {
    try home.interrupt("exec $PINNA render --preset pair --format ambix - \(name)", writing: name)
    // What a kill leaves is replaced.
    try home.home.folder.write(name.hasSuffix("caf") ? "caff" : "RIFF", to: "\(name).part")
    try AudioClip(sampleRate: 48000, channels: Array(Self.noise(2))).write(wav: home.path + "/in.wav")
    let again = try render(
      "--preset", "pair", "--format", "ambix", home.path + "/in.wav", home.path + "/" + name)
    #expect(again.status == 0 && home.contents(".").filter { $0.hasPrefix("b.") } == [name], "\(again)")
  }

  @Test("a file .amb ends before 4 GB, where its lengths would wrap")
  func longest() throws {
    let path = home.path + "/b.amb"
    let output = try AudioFileWriter(
      path: path, channels: 16, sampleRate: 48000,
      ambisonics: AmbisonicFormat(order: 3, normalisation: .fuma))
    try output.skip(frames: (1 << 32) / 64 - 1000)
    #expect(throws: AudioFileError.self) { try output.write([Float](repeating: 0, count: 16 * 1000)) }
    output.abandon()
    #expect(access(path, F_OK) != 0)
  }
}
