import Foundation
import FoundationXML
import LiveSupport
import TestSupport
import Testing

@Suite("pinna report") struct ReportVerbTests {
  let home: VerbHome
  init() throws { home = try VerbHome() }

  /// The keys of issue 3 and those added since.
  private static let keys: Set = [
    "dataSource", "polarPattern", "inputOrientation", "separationDB", "frontBackDB", "ildErrorHighDB",
    "ildErrorLowDB", "itdErrorMicroseconds", "octaveErrorDB", "noiseGainDB", "directivityIndexDB",
    "patternErrorDB", "whiteNoiseGainDB", "onAxisDB", "taps", "delayFrames", "supported", "reason",
    "frontBackOctavesDB", "separationCeilingDB", "losses", "weakness", "heardAtSidesDegrees",
    "heardInFrontDegrees", "aliasingHz", "diffuseErrorDB", "frontErrorDB", "coherenceError",
    "heardBehindDegrees", "itdJumpMicroseconds", "heardDegrees", "targetHeardDegrees",
  ]

  @Test("report prints JSON with every key of the schema in every case, null where it does not apply")
  func json() throws {
    let outcome = try home.pinna("report", "--preset", "pair", "--json")
    #expect(outcome.status == 0, "\(outcome)")
    let json = try outcome.json()
    #expect(Set(json.keys) == ["preset", "sampleRate", "remarks", "cases"])
    #expect(json["preset"] as? String == "pair" && json["sampleRate"] as? Int == 48000)
    let cases = try #require(json["cases"] as? [[String: Any]])
    #expect(cases.count == 2)
    for one in cases {
      #expect(Set(one.keys) == Self.keys, "\(Set(one.keys).symmetricDifference(Self.keys))")
    }
    let mono = try #require(cases.first { $0["polarPattern"] as? String == "omnidirectional" })
    let stereo = try #require(cases.first { $0["polarPattern"] as? String == "stereo" })
    // A single microphone with one tap: its noise gain and its level on axis differ by the tap's gain.
    let gain = try #require(mono["whiteNoiseGainDB"] as? [String: Double])
    let level = try #require(mono["onAxisDB"] as? [String: Double])
    let differences = gain.map { $0.value - (level[$0.key] ?? .nan) }
    #expect(
      gain.count == 8 && differences.allSatisfy { abs($0 - differences[0]) < 1e-6 }, "\(gain), \(level)")
    for key in ["inputOrientation", "separationDB", "frontBackDB", "octaveErrorDB", "noiseGainDB", "reason"] {
      #expect(mono[key] is NSNull, "\(key)")
    }
    #expect(mono["taps"] as? Int == 256 && mono["delayFrames"] as? Int == 64)
    #expect(mono["supported"] as? Bool == true)
    let index = try #require(mono["directivityIndexDB"] as? [String: Double])
    #expect(Set(index.keys) == ["125", "250", "500", "1000", "2000", "4000", "8000", "12000"])
    #expect(stereo["directivityIndexDB"] is NSNull)
    // Two microphones on either side of a sphere can tell left from right.
    #expect(try #require(stereo["separationDB"] as? Double) > 3)
    for key in ["heardDegrees", "targetHeardDegrees"] {
      let angles = try #require(stereo[key] as? [String: Double])
      let (left, right) = (try #require(angles["90"]), try #require(angles["-90"]))
      #expect(angles.count == 24 && left > 20 && right < -20, "\(angles)")
      #expect(mono[key] is NSNull)
    }
    #expect(
      Set(try #require(stereo["octaveErrorDB"] as? [String: Double]).keys).isSuperset(of: ["250", "500"]))
  }

  @Test("report says of B-format what each channel and order reaches, and which are silent")
  func ambisonics() throws {
    let outcome = try home.pinna("report", "--preset", "pair", "--format", "ambix", "--json")
    #expect(outcome.status == 0, "\(outcome)")
    let one = try #require((try outcome.json()["cases"] as? [[String: Any]])?.first)
    #expect(Set(one.keys) == Self.keys.union(["ambisonics"]))
    let figures = try #require(one["ambisonics"] as? [String: Any])
    let channels = try #require(figures["channels"] as? [[String: Any]])
    #expect(channels.map { $0["name"] as? String } == ["W", "Y", "Z", "X"])
    #expect(channels.map { $0["isSilent"] as? Bool } == [false, false, true, true])
    #expect(try #require((channels[1]["correlation"] as? [String: Double])?["250"]) > 0.9)
    #expect((figures["orders"] as? [[String: Any]])?.count == 2)
    let text = try home.pinna("report", "--preset", "pair", "--format", "ambix").output
    #expect(text.contains("B-format (AmbiX)") && text.contains("silence"))
    let plots = try home.pinna(
      "report", "--preset", "pair", "--format", "ambix", "--plots", home.path + "/plots")
    #expect(plots.status == 0 && home.contents("plots") == ["b-format.png", "device.png", "index.html"])
    // One drawing per octave of the channels that are heard, W and Y.
    let page = try String(contentsOf: URL(filePath: home.path + "/plots/index.html"), encoding: .utf8)
    #expect(page.matches(of: /aria-label="Channel [WY]:/).count == 14 && page.contains("Silence: Z, X."))
    #expect(try home.pinna("report", "--preset", "pair", "--order", "1").status == 2)
  }

  @Test("report lists cases that are not offered, with the reason and the physical limit", .long)
  func notOffered() throws {
    try home.home.folder.write(
      PinnaHome.pair.replacing("[portrait]", with: "[landscapeRight]"), to: "config/pinna/devices/pair.yaml")
    let cases = try home.pinna("report", "--preset", "pair", "--json").json()["cases"] as? [[String: Any]]
    let stereo = try #require(cases?.first { $0["polarPattern"] as? String == "stereo" })
    #expect(Set(stereo.keys) == Self.keys)
    #expect(stereo["supported"] as? Bool == false && stereo["reason"] is String)
    #expect(stereo["separationCeilingDB"] is [String: Double])
    #expect(try home.pinna("report", "--preset", "pair").output.contains("Front, stereo, landscapeRight: "))
  }

  @Test("report prints a table of every case, and draws a page and sheets, or with --separate every plot")
  func tableAndPlots() throws {
    let outcome = try home.pinna(
      "report", "--preset", "pair", "--separate", "--plots", home.path + "/plots")
    #expect(outcome.status == 0, "\(outcome)")
    for words in [
      "pair at 48000 Hz", "Front, portrait", "Front, omnidirectional", "directivity index", "left/right",
    ] {
      #expect(outcome.output.contains(words), "\(words) in \(outcome)")
    }
    let mono = ["noise", "on-axis", "polar"].map { "front-omnidirectional-\($0).svg" }
    let stereo = ["diffuse", "heard", "on-axis", "polar"].map { "front-stereo-portrait-\($0).svg" }
    let others = ["device.svg", "voices.svg"]
    #expect(home.contents("plots") == (mono + stereo + others + ["index.html"]).sorted())
    #expect(outcome.output.contains("/plots/index.html and on 9 plots beside it"), "\(outcome)")
    for file in mono + stereo + others {
      let parser = XMLParser(data: try Data(contentsOf: URL(filePath: home.path + "/plots/" + file)))
      #expect(parser.parse(), "\(file): \(String(describing: parser.parserError))")
    }
  }

  @Test(
    "the page of report names every case, links to files that exist, has no script, and loads nothing from elsewhere",
    arguments: ["svg", "png"])
  func page(format: String) throws {
    let folder = home.path + "/plots"
    let outcome = try home.pinna(
      "report", "--preset", "pair", "--draws", "0", "--plots", folder, "--format", format)
    #expect(outcome.status == 0, "\(outcome)")
    let sheets = ["device", "front-mono", "front-stereo", "voices"].map { "\($0).\(format)" }
    #expect(home.contents("plots") == (sheets + ["index.html"]).sorted())
    let page = try String(contentsOfFile: folder + "/index.html", encoding: .utf8)
    let links = page.matches(of: /href="([^"]*)"/).map { String($0.1) }
    let ids = Set(page.matches(of: #/ id="([^"]*)"/#).map { String($0.1) })
    for name in ["Front, stereo, portrait", "Front, omnidirectional"] {
      #expect(page.contains("<h2>\(name)</h2>"), "\(name)")
    }
    for link in links {
      let exists =
        link.hasPrefix("#") ? ids.contains(String(link.dropFirst())) : sheets.contains(link)
      #expect(exists, "\(link)")
    }
    #expect(Set(links).isSuperset(of: sheets))
    for word in ["<script", "http", "src=", "@import", "url("] { #expect(!page.contains(word), "\(word)") }
    #expect(page.contains("prefers-color-scheme:dark") && page.contains("width=device-width"))
    // Help for each figure: four of stereo, three of the mono pattern.
    #expect(page.matches(of: /<figcaption>[^<]{30,}</).count == 7)
  }

  @Test("report refuses the impossible before it computes anything")
  func refusals() throws {
    let home = try VerbHome(hasFilters: false)
    let format = try home.pinna(
      "report", "--preset", "pair", "--plots", home.path + "/plots", "--format", "pdf")
    #expect(format.status == 2 && format.isOneSentence && format.error.contains("svg, png"), "\(format)")
    #expect(try home.pinna("report", "--preset", "nosuch").status == 1)
    let folder = try home.pinna("report", "--preset", "pair", "--plots", "/proc/plots")
    #expect(folder.status == 1 && folder.isOneSentence && folder.error.contains("/proc/plots"), "\(folder)")
    #expect(!FileManager.default.fileExists(atPath: home.path + "/plots"))
    #expect(!FileManager.default.fileExists(atPath: home.cacheFolder))
  }
}
