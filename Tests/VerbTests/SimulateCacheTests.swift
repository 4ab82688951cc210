import Foundation
import LiveSupport
import TestSupport
import Testing

/// What `pinna simulate` keeps of a body.
@Suite("pinna simulate and its cache") struct SimulateCacheTests {
  let home: VerbHome
  init() throws { home = try VerbHome() }

  @Test(
    "a second simulation of a body is the same to the bit and 3 times faster; the first one says the time left",
    .nightly
  )
  func cached() throws {
    let voice = "/usr/share/sounds/alsa/Front_Center.wav"
    try #require(FileManager.default.fileExists(atPath: voice), "alsa-utils is not installed")
    // Wider than any phone, so that the field takes far longer than the 2 s after which time left is told.
    let phone = try String(contentsOfFile: repositoryFolder + "/Presets/devices/phone5.yaml", encoding: .utf8)
    try home.home.folder.write(
      phone.replacing("[72, 147, 8]", with: "[120, 147, 8]"), to: "config/pinna/devices/slab.yaml")
    let scene = try home.home.folder.write(
      """
      title: One voice
      device: slab
      facing: {dataSource: Back, inputOrientation: portrait}
      talkers:
        - {voice: \(voice), from: left}

      """, to: "scene.yaml")
    let clock = ContinuousClock()
    var output = ""
    let first = try clock.measure {
      let outcome = try home.onTerminal("simulate \(scene) \(home.path)/first.wav")
      #expect(outcome.status == 0, "\(outcome)")
      output = outcome.output
    }
    #expect(
      output.contains("computing the sound field around slab") && output.contains(" s left"), "\(output)")
    let second = try clock.measure {
      let outcome = try home.pinna("simulate", scene, home.path + "/second.wav")
      #expect(outcome.status == 0 && outcome.hasNoComplaint, "\(outcome)")
    }
    #expect(first > second * 3, "\(first), \(second)")
    // Without a cache.
    let uncached = try home.pinna(
      "simulate", scene, home.path + "/third.wav", environment: ["XDG_CACHE_HOME": "/proc/nosuch"])
    // On a slow machine the time left follows, and nothing else.
    let field = "pinna: computing the sound field around slab"
    let told = try Regex("(\(field)(: [0-9]+ %, about [0-9]+ (s|min) left)?\n)+")
    #expect(uncached.error.hasPrefix(field + "\n"), "\(uncached)")
    #expect(try told.wholeMatch(in: uncached.error) != nil, "\(uncached)")
    let sounds = try ["first", "second", "third"].map {
      try Data(contentsOf: URL(filePath: "\(home.path)/\($0).wav"))
    }
    #expect(sounds[0] == sounds[1] && sounds[0] == sounds[2])
    #expect(home.contents("cache/pinna/bodies").count == 1)
  }
}
