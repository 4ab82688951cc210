import Acoustics
import FilterBanks
import FilterDesign
import Foundation
import LiveSupport
import Numerics
import Presets
import TestSupport
import Testing

@Suite("Looks in report, check and export") struct LookVerbTests {
  let home: VerbHome

  init() throws {
    home = try VerbHome()
    try home.home.folder.write(
      """
      title: A beam, and another
      device: ring7
      dataSource: Front
      polarPattern: cardioid
      inputOrientation: portrait
      look: [60, 0]
      feeds:
        ben: {look: [-60, 10], polarPattern: supercardioid}
        room: {polarPattern: cardioid}

      """, to: "config/pinna/beams.yaml")
  }

  private func cases(_ words: String...) throws -> [[String: Any]] {
    let outcome = try home.pinna(words + ["--json"])
    #expect(outcome.status == 0, "\(outcome)")
    return try #require(try outcome.json()["cases"] as? [[String: Any]])
  }

  @Test(
    "report and check are about the pattern at a look: the given one, or the preset's; off for the device's cases",
    .long
  )
  func figures() throws {
    let given = try cases("report", "--device", "ring7", "--look", "35", "--draws", "0")
    #expect(given.count == 1 && given[0]["look"] as? [Double] == [35, 0])
    let index = try #require(given[0]["directivityIndexDB"] as? [String: Double])
    #expect(abs(try #require(index["1000"]) - 4.8) < 0.3, "\(index)")
    let own = try cases("report", "--preset", "beams", "--draws", "0")
    #expect(own.map { $0["look"] as? [Double] } == [[60, 0]])
    let checked = try cases("check", "--preset", "beams", "--pattern", "supercardioid")
    #expect(checked.count == 1 && checked[0]["polarPattern"] as? String == "supercardioid")
    #expect(
      (checked[0]["look"] as? [String: Double])?["azimuth"] == 60 && checked[0]["right"] as? Bool == true)
    #expect(try cases("check", "--preset", "beams", "--look", "off").count > 10)
  }

  @Test("report says how to see the feeds that look elsewhere")
  func feeds() throws {
    let outcome = try home.pinna("report", "--preset", "beams", "--draws", "0")
    #expect(
      outcome.output.contains(
        "ben is Front, supercardioid at -60°, 10° up, which is not included; see: pinna report --preset beams --look -60,10 --pattern supercardioid --data-source Front"
      ), "\(outcome)")
    #expect(outcome.output.contains("Front, cardioid at 60°"))
  }

  @Test(
    "an export has the filters of the preset's look and of its feeds' looks, and configurations play those",
    .long)
  func export() throws {
    let folder = home.path + "/out"
    let outcome = try home.pinna("export", "--preset", "beams", "--to", "jconvolver", folder)
    #expect(outcome.status == 0 && outcome.output.contains("/feeds.conf"), "\(outcome)")
    useSingleThreadedBLAS()
    let device = try PresetLibrary(folders: [repositoryFolder + "/Presets"]).device(named: "ring7")
    let exported = try FilterBank(folder: folder)
    for (look, pattern) in [
      (Look(azimuth: 60)!, PolarPattern.cardioid), (Look(azimuth: -60, elevation: 10)!, .supercardioid),
    ] {
      let selection = Selection(
        dataSource: "Front", polarPattern: pattern, inputOrientation: .portrait, look: look)
      let bank = try FilterBank.design(
        device: try #require(try device.ownDevice(of: selection)), sampleRate: 48_000)
      #expect(exported.coefficients(for: selection.filterCase)?.taps == bank.cases.first?.taps)
      #expect(exported.coefficients(for: selection.filterCase)?.taps != nil)
    }
    let configuration = try String(contentsOfFile: folder + "/feeds.conf", encoding: .utf8)
    for file in ["front-cardioid-look-60.wav", "front-supercardioid-look--60-10.wav", "front-cardioid.wav"] {
      #expect(configuration.contains(file), "\(file)\n\(configuration)")
    }
    let data = try Data(contentsOf: URL(filePath: folder + "/filters.json"))
    let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    let files = try #require(json["feeds"] as? [[String: Any]]).map { $0["file"] as? String }
    #expect(files == ["front-supercardioid-look--60-10.wav", "front-cardioid.wav"])
  }

  @Test(
    "report --look all has the directivity of each direction by octave, as a table, JSON and plots", .long)
  func all() throws {
    let outcome = try home.pinna(
      "report", "--device", "pair", "--look", "all", "--json", "--plots", home.path + "/plots")
    #expect(outcome.status == 0, "\(outcome)")
    let rows = try #require(try outcome.json()["rows"] as? [[String: Any]])
    #expect(rows.count == 24 && (rows[0]["look"] as? [Double]) == [-165, 0])
    #expect(home.contents("plots") == ["index.html", "looks.svg"])
    #expect(try home.pinna("report", "--device", "pair", "--look", "all").output.contains("-165°"))
  }

  @Test(
    "looks that go with nothing else that was asked for are usage failures",
    arguments: [
      ["report", "--look", "60", "--format", "ambix"], ["report", "--pattern", "cardioid"],
      ["report", "--look", "60", "--pattern", "stereo"], ["report", "--look", "all", "--draws", "3"],
      ["check", "--live", "--look", "60"], ["check", "--look", "up"],
    ])
  func usage(words: [String]) throws {
    let outcome = try home.pinna(words)
    #expect(outcome.status == 2 && outcome.isOneSentence, "\(outcome)")
  }
}
