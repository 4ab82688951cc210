import Acoustics
import Foundation
import Presets
import TestSupport
import Testing

@Suite("Device files")
struct DeviceFileErrorTests {
  static let good = """
    title: Good
    body: {box: [72, 147, 8]}
    microphones:
      top: [0, 73.5, 0]
      front: [0, 65, 4]
    dataSources:
      Front:
        forward: +z
        microphones: [front, top]
        polarPatterns: [omnidirectional, cardioid, stereo]
        stereoOrientations: [portrait]
    """

  struct Mistake: Sendable, CustomTestStringConvertible {
    let old: String
    let new: String
    let place: String
    let message: String
    var testDescription: String { new.isEmpty ? "without \(old)" : new }

    init(_ old: String, _ new: String, at place: String, _ message: String) {
      (self.old, self.new, self.place, self.message) = (old, new, place, message)
    }
  }

  static let mistakes = [
    Mistake("title: Good", "", at: "2:1", "the file has no key \"title\"; add it"),
    Mistake("title: Good", "title:", at: "1:7", "title is empty; write text"),
    Mistake("title: Good", "title: \"a\\x1b[2J\"", at: "1:8", "title has unprintable characters"),
    Mistake(
      "title: Good", "name: Good", at: "1:1",
      "unknown key \"name\"; use one of: format, title, placement, body, geometry, hardware, microphones"),
    Mistake(
      "title: Good", "title: Good\ndesign: {stereo: {rearGain: -6}}", at: "2:9",
      "design is no longer part of device files, because the body decides how filters are designed; remove it"
    ),
    Mistake(
      "{box: [72, 147, 8]}", "cube", at: "2:7",
      "body is \"cube\"; write free, {sphere: RADIUS}, {cylinder: RADIUS} or {box"),
    Mistake(
      "{box: [72, 147, 8]}", "{box: [72, 147, 8], sphere: 9}", at: "2:7",
      "body does not describe exactly one body; write free"),
    Mistake("{box: [72, 147, 8]}", "{}", at: "2:7", "body does not describe exactly one body; write free"),
    Mistake(
      "{box: [72, 147, 8]}", "{cube: 9}", at: "2:8",
      "body has an unknown key \"cube\"; use one of: sphere, cylinder, box"),
    Mistake(
      "[72, 147, 8]", "[72, 501, 8]", at: "2:18",
      "body.box[2] is 501, out of range; write a number from 1 to 500 mm"),
    Mistake(
      "{box: [72, 147, 8]}", "{sphere: 0.0875}", at: "2:16", "body.sphere is 0.0875, out of range; write"),
    Mistake(
      "{box: [72, 147, 8]}", "{sofa: none.sofa}", at: "2:14",
      "body.sofa cannot be used: dir/none.sofa cannot be read: there is no such file; check its path"),
    Mistake(
      "{box: [72, 147, 8]}", "{sofa: /dev/null}", at: "2:14", "/dev/null is not a regular file; give a SOFA"),
    Mistake("{box: [72, 147, 8]}", "{sofa: [a]}", at: "2:14", "body.sofa is a list; write text"),
    Mistake(
      "{box: [72, 147, 8]}", "{impulseResponses: r.wav}", at: "2:7", "body has no key \"directions\"; add it"),
    Mistake(
      "{box: [72, 147, 8]}", "{directions: d.csv}", at: "2:7", "body has no key \"impulseResponses\"; add it"),
    Mistake(
      "{box: [72, 147, 8]}", "{impulseResponses: r.wav, directions: d.csv}", at: "2:26",
      "body.impulseResponses cannot be used: dir/r.wav cannot be read"),
    Mistake(
      "{box: [72, 147, 8]}", "{sofa: a.sofa, directions: d.csv}", at: "2:7",
      "body does not describe exactly one body; write free"),
    Mistake("{box: [72, 147, 8]}", "{box: [72, 147]}", at: "2:13", "body.box has 2 numbers; write three"),
    Mistake("[72, 147, 8]", "[0.072, 0.147, 0.008]", at: "2:14", "body.box[1] is 0.072, out of range"),
    Mistake(
      "{box: [72, 147, 8]}", "{sphere: 87.5}", at: "4:8",
      "microphones.top is 14.0 mm inside the body; move it to the surface, whose nearest point is [0.0, 87.5, 0.0] mm"
    ),
    Mistake("{box: [72, 147, 8]}", "{sphere: yes}", at: "2:16", "body.sphere is \"yes\", not a number"),
    Mistake(
      "[0, 73.5, 0]", "[0, 75.5, 0]", at: "4:8",
      "microphones.top is 2.0 mm outside the body; move it to the surface, whose nearest point is [0.0, 73.5, 0.0] mm"
    ),
    Mistake(
      "[0, 73.5, 0]", "[-40, -75.5, 1]", at: "4:8",
      "microphones.top is 4.5 mm outside the body; move it to the surface, whose nearest point is [-36.0, -73.5, 1.0]"
    ),
    Mistake(
      "[0, 73.5, 0]", "[20, -60, -1.5]", at: "4:8",
      "microphones.top is 2.5 mm inside the body; move it to the surface, whose nearest point is [20.0, -60.0, -4.0]"
    ),
    Mistake("[0, 73.5, 0]", "[0, 60, 0]", at: "4:8", "microphones.top is 4.0 mm inside the body; move it"),
    Mistake("[0, 73.5, 0]", "[0, 73500, 0]", at: "4:12", "microphones.top[2] is 73500, out of range"),
    Mistake("[0, 73.5, 0]", "[0, 73,5, 0]", at: "4:8", "microphones.top has 4 numbers; write three"),
    Mistake("[0, 73.5, 0]", "0 73.5 0", at: "4:8", "microphones.top is \"0 73.5 0\"; write a list"),
    Mistake("[0, 73.5, 0]", "[0, \"73.5\", 0]", at: "4:12", "microphones.top[2] is \"73.5\", not a number"),
    Mistake("[0, 73.5, 0]", "[0, 1e308, 0]", at: "4:12", "microphones.top[2] is 1e308, out of range"),
    Mistake("[0, 73.5, 0]", "[0, 1e999, 0]", at: "4:12", "microphones.top[2] is \"1e999\", not a number"),
    Mistake("[0, 73.5, 0]", "[0, .inf, 0]", at: "4:12", "microphones.top[2] is \".inf\", not a number"),
    Mistake("[0, 73.5, 0]", "[0, nan, 0]", at: "4:12", "microphones.top[2] is \"nan\", not a number"),
    Mistake("[0, 73.5, 0]", "[0, 0x49, 0]", at: "4:12", "microphones.top[2] is \"0x49\", not a number"),
    Mistake("[0, 73.5, 0]", "[0, 65, 4.2]", at: "5:10", "microphones.front is at the position of top; move"),
    Mistake("top: [0, 73.5, 0]", "to p: [0, 73.5, 0]", at: "4:9", "microphones.to p is not a valid name"),
    Mistake("top: [0, 73.5, 0]", "\"a:b\": [0, 73.5, 0]", at: "4:10", "microphones.a:b is not a valid name"),
    Mistake(
      "top: [0, 73.5, 0]", "Front: [0, 73.5, 0]", at: "5:10",
      "microphones.front differs from Front only in case"),
    Mistake(
      "top: [0, 73.5, 0]", "front: [0, 73.5, 0]", at: "5:3", "\"front\" is given twice, first in line 4"),
    Mistake(
      "top: [0, 73.5, 0]", "out_left: [0, 73.5, 0]", at: "4:13", "is the name of a port of Pinna itself"),
    Mistake("+z", "up", at: "8:14", "dataSources.Front.forward is \"up\"; write +x, -x"),
    Mistake("+z", "[0, 0, 0]", at: "8:14", "dataSources.Front.forward is the zero vector"),
    Mistake(
      "+z", "+y", at: "11:26", "dataSources.Front.stereoOrientations[1] is portrait, whose up is parallel"),
    Mistake("[portrait]", "[]", at: "11:25", "dataSources.Front.stereoOrientations is empty"),
    Mistake("[portrait]", "[portrait, Portrait]", at: "11:36", "stereoOrientations[2] repeats portrait"),
    Mistake(
      "[portrait]", "[sideways]", at: "11:26",
      "has an unknown input orientation \"sideways\"; use one of: portrait, portraitUpsideDown, landscapeLeft"
    ),
    Mistake(
      ", stereo]", "]", at: "11:25", "stereoOrientations is given, but polarPatterns does not list stereo"),
    Mistake(
      "cardioid", "heart", at: "10:38", "polarPatterns[2] has an unknown polar pattern \"heart\"; use one of"),
    Mistake("cardioid", "stereo", at: "10:46", "polarPatterns[3] repeats stereo; remove it"),
    Mistake(
      "[front, top]", "[front]", at: "10:38", "polarPatterns[2] is cardioid, which needs at least two"),
    Mistake(
      "[front, top]", "[front, rear]", at: "9:26", "is an unknown microphone \"rear\"; use one of: top, front"
    ),
    Mistake("[front, top]", "[front, front]", at: "9:26", "microphones[2] repeats front; remove it"),
    Mistake("[front, top]", "every", at: "9:18", "microphones is \"every\"; write all, or a list of names"),
    Mistake("[front, top]", "[]", at: "9:18", "dataSources.Front.microphones is empty; write all"),
    Mistake("    forward: +z\n", "", at: "8:5", "dataSources.Front has no key \"forward\"; add it"),
    Mistake("forward: +z", "forward: +z\n    location: middle", at: "9:15", "use one of: upper, lower"),
  ]

  /// The message with which a device file of this text is refused.
  private func refusal(
    of text: String, file: String = "d.yaml", at location: SourceLocation = #_sourceLocation
  ) -> String {
    let error = #expect(throws: DescriptionError.self, sourceLocation: location) {
      try DeviceFile.read(YAMLReader(text: text, file: file))
    }
    return error?.description ?? ""
  }

  /// The device that a file of this text describes.
  private func device(_ text: String) throws -> Device {
    try DeviceFile.read(YAMLReader(text: text, file: "d.yaml"))
  }

  @Test(
    "a mistake in a device file is reported with file, line, column, field and remedy", arguments: mistakes)
  func mistake(_ mistake: Mistake) {
    let text = Self.good.replacingOccurrences(of: mistake.old, with: mistake.new)
    let message = refusal(of: text, file: "dir/d.yaml")
    #expect(message.hasPrefix("dir/d.yaml:\(mistake.place): "), "\(message)")
    #expect(message.contains(mistake.message), "\(message)")
    #expect(message.contains(";") && !message.contains("\n"), "\(message)")
  }

  @Test("a device file in metres is recognised as such")
  func metres() {
    let text = "title: t\nbody: free\nmicrophones: {a: [0, 0, 0], b: [0.07, 0, 0]}\ndataSources: {}"
    #expect(
      refusal(of: text)
        == "d.yaml:3:32: microphones.b is within 1 mm of the origin, like all others; write millimetres, not metres"
    )
  }

  @Test("a device needs at least one microphone and data source, and has at most 64 microphones")
  func counts() {
    func message(_ microphones: String, _ sources: String) -> String {
      refusal(of: "title: t\nbody: free\nmicrophones: \(microphones)\ndataSources: \(sources)")
    }
    let many = (0..<65).map { "m\($0): [\($0), 0, 0]" }.joined(separator: ", ")
    #expect(message("{}", "{}").hasPrefix("d.yaml:3:14: microphones is empty; add at least one"))
    #expect(message("{\(many)}", "{}").hasPrefix("d.yaml:3:14: microphones has 65 entries; keep at most 64"))
    #expect(message("{a: [0, 0, 0]}", "{}").hasPrefix("d.yaml:4:14: dataSources is empty; add at least one"))
    let stereo = "{Front: {forward: +z, microphones: all, polarPatterns: [stereo]}}"
    #expect(message("{a: [0, 0, 0]}", stereo).contains("is stereo, which needs at least two microphones"))
  }

  @Test("paths of measurement files are relative to the device file")
  func measured() throws {
    let folder = try TemporaryFolder()
    for name in ["devices/array.sofa", "responses.wav", "directions.csv"] { try folder.write("x", to: name) }
    func body(_ text: String) throws -> Body {
      let good = Self.good.replacingOccurrences(of: "{box: [72, 147, 8]}", with: text)
      return try DeviceFile.read(YAMLReader(path: folder.write(good, to: "devices/d.yaml"))).body
    }
    #expect(try body("{sofa: array.sofa}") == .measured(.sofa(path: folder.path + "/devices/array.sofa")))
    let path = folder.path + "/responses.wav"
    #expect(
      try body("{impulseResponses: \(path), directions: ../directions.csv}")
        == .measured(
          .impulseResponses(path: path, directions: folder.path + "/devices/../directions.csv")))
  }

  @Test("ten lines describe a simple array, and keywords may be in any case")
  func minimal() throws {
    let device = try DeviceFile.read(
      YAMLReader(
        text: """
          title: Two microphones on a stick
          body: Free
          microphones:
            left: [-50, 0, 0]
            right: [50, 0, 0]
          dataSources:
            Front:
              forward: +Z
              microphones: ALL
              polarPatterns: [OmniDirectional, STEREO]
          """, file: "stick.yaml"))
    #expect(device.microphones.map(\.position) == [[-0.05, 0, 0], [0.05, 0, 0]])
    #expect(
      device.dataSources == [
        DataSource(
          name: "Front", id: 1_835_216_945, location: nil, orientation: .front, forward: .plusZ,
          microphones: [0, 1], polarPatterns: [.omnidirectional, .stereo],
          stereoOrientations: InputOrientation.allCases)
      ])
  }

  @Test("without stereoOrientations, a data source offers those whose up is not parallel to forward")
  func defaultOrientations() throws {
    let text = Self.good.replacingOccurrences(of: "    stereoOrientations: [portrait]", with: "")
      .replacingOccurrences(of: "+z", with: "-x")
    let device = try self.device(text)
    #expect(device.dataSources[0].stereoOrientations == [.portrait, .portraitUpsideDown])
    #expect(device.dataSources[0].orientation == .left)
  }
}
