import Foundation
import LiveSupport
import TestSupport
import Testing

/// `pinna demo` with a PATH in which there is no jackd.
@Suite("pinna demo without jackd") struct OfflineDemoTests {
  let home: VerbHome
  let path: [String: String]

  init() throws {
    home = try VerbHome()
    path = ["PATH": home.path + "/empty"]
  }

  @Test("without jackd, the demo says that it runs offline, and shows where each voice came out")
  func words() throws {
    let outcome = try home.pinna("demo", "--preset", "glasses8", environment: path)
    #expect(outcome.status == 0, "\(outcome)")
    let lines = outcome.output.split(separator: "\n")
    #expect(
      lines[0]
        == "jackd is not installed: the demo runs offline, without a take; for all of it, install jackd2.")
    #expect(lines[2].hasPrefix("  1. glasses8: ") && lines[2].contains(", stereo, "), "\(outcome)")
    #expect(outcome.output.contains("in all 1 cases"), "\(outcome)")
    #expect(!outcome.output.contains("Take:"), "\(outcome)")
    // It ends with the command that keeps the sound; there is no player in this PATH.
    #expect(lines.last == "To hear it: pinna demo --preset glasses8 --keep pinna-demo", "\(outcome)")
    #expect(try picture(home.cacheFolder + "/pinna/demo.png"))
  }

  @Test(
    "every second stereo case of phone5 comes out right while one engine changes from case to case; --keep keeps the sound",
    .long
  )
  func phone() throws {
    let folder = home.path + "/kept"
    let outcome = try home.pinna("demo", "--json", "--keep", folder, environment: path)
    #expect(outcome.status == 0, "\(outcome)")
    let json = try outcome.json()
    #expect(json["offline"] as? Bool == true && json["take"] is NSNull && json["refused"] is NSNull)
    #expect(json["right"] as? Bool == true && (json["cases"] as? [Any])?.count == 4)
    #expect(json["picture"] as? String == folder + "/demo.png")
    #expect(home.contents("kept") == ["demo.png", "microphones.wav", "outputs.wav"])
    #expect(try picture(folder + "/demo.png"))
  }

  @Test("--keep says where the sound is, and how to play it with the player that is installed")
  func keep() throws {
    let player = try home.home.folder.write("#!/bin/sh\n", to: "empty/pw-play")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: player)
    let folder = home.path + "/two words"
    let outcome = try home.pinna("demo", "--preset", "glasses8", "--keep", folder, environment: path)
    #expect(outcome.status == 0, "\(outcome)")
    let last = try #require(outcome.output.split(separator: "\n").last)
    #expect(last.hasPrefix("The sound is in \(folder): outputs.wav"), "\(last)")
    #expect(last.hasSuffix("To hear it: pw-play '\(folder)/outputs.wav'"), "\(last)")
    #expect(home.contents("two words") == ["demo.png", "microphones.wav", "outputs.wav"])
  }

  /// Whether the file is a PNG picture.
  private func picture(_ path: String) throws -> Bool {
    try Data(contentsOf: URL(filePath: path)).prefix(8)
      == Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
  }
}
