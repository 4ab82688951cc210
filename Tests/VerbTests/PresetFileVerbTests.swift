import Foundation
import LiveSupport
import TestSupport
import Testing

@Suite("pinna preset check, bank") struct PresetFileVerbTests {
  let home: VerbHome
  init() throws { home = try VerbHome() }

  @Test("preset check reads all presets, or one by name or file, and has status 1 for a mistake")
  func check() throws {
    let all = try home.pinna("preset", "check")
    #expect(
      all.status == 0 && all.output.contains("phone5               ok: phone5, Back, stereo, portrait\n"),
      "\(all)")
    let bad = home.path + "/bad.yaml"
    try "title: Bad\ndevice: phone5\ndataSource: Back\n".write(toFile: bad, atomically: true, encoding: .utf8)
    let outcome = try home.pinna("preset", "check", bad)
    #expect(
      outcome.status == 1 && outcome.output.contains("bad.yaml:1:1: the file has no key \"polarPattern\""),
      "\(outcome)")
    let json = try home.pinna("preset", "check", bad, "--json")
    let presets = try #require(try json.json()["presets"] as? [[String: Any]])
    #expect(json.status == 1 && (presets[0]["fault"] as? String)?.contains("polarPattern") == true, "\(json)")
    #expect(try home.pinna("preset", "check", "phone6").status == 1)
  }

  @Test("preset check refuses a feed whose filters do not work, and says which orders are offered")
  func feeds() throws {
    try home.home.add(
      """
      title: Six microphones on a ball
      body: {sphere: 50}
      microphones:
        left: [-50, 0, 0]
        right: [50, 0, 0]
        bottom: [0, -50, 0]
        top: [0, 50, 0]
        back: [0, 0, -50]
        front: [0, 0, 50]
      dataSources:
        Front:
          forward: +z
          microphones: all
          polarPatterns: [omnidirectional]

      """, named: "six")
    for (device, feed, words) in [
      // By its filters, once they are designed.
      (
        "six", "room: {order: 2}",
        [
          "the feed room is not possible", "does not offer ambix of order 2 in portrait",
          "order 1 is offered",
        ]
      ),
      // By the number of microphones, at its place in the file.
      (
        "pair", "room: {order: 2}",
        [
          "room.yaml:7:9: feeds.room is not possible",
          "B-format of order 2 needs at least 5 microphones, and pair has 2; order 1 is the highest that can be offered",
        ]
      ),
      (
        "six", "room: {order: 4}",
        [
          "room.yaml:7:9: feeds.room is not possible",
          "and six has 6; order 2 is the highest that can be offered",
        ]
      ),
      ("pair", "both: {}\n  omni: {format: mono}", []),
    ] {
      let pattern = device == "pair" ? "stereo" : "omnidirectional"
      let head =
        "title: Room\ndevice: \(device)\ndataSource: Front\npolarPattern: \(pattern)\ninputOrientation: portrait\nfeeds:\n"
      let file = try home.home.folder.write(head + "  " + feed + "\n", to: "room.yaml")
      let outcome = try home.pinna("preset", "check", file)
      #expect(outcome.status == (words.isEmpty ? 0 : 1), "\(outcome)")
      for word in words { #expect(outcome.output.contains(word), "\(outcome)") }
      #expect(!outcome.output.contains("nothing else") && !outcome.output.contains("ambix2"), "\(outcome)")
      #expect(words.isEmpty || outcome.output.contains("offered"), "\(outcome)")
    }
  }

  @Test("preset check refuses a part of somebody without a seat")
  func parts() throws {
    let head = "polarPattern: stereo\ninputOrientation: portrait\ndataSource: Front\ntitle: Parts\n"
    for (device, rest, words) in [
      ("uma16", "feeds:\n  a: {part: talkers}\nroom: -6", ""),
      ("pair", "part: anna", "parts.yaml:6:7: part is \"anna\", who has no seat"),
      ("pair", "feeds:\n  a: {part: anna}\nseats: {Anna: 4}", "did you mean Anna?"),
      ("pair", "part: anna\nseats: {anna: 4}", ""), ("pair", "part: 2", ""),
    ] {
      let file = try home.home.folder.write(head + "device: \(device)\n\(rest)\n", to: "parts.yaml")
      let outcome = try home.pinna("preset", "check", file)
      #expect(outcome.status == (words.isEmpty ? 0 : 1), "\(outcome)")
      #expect(words.isEmpty || outcome.output.contains(words), "\(outcome)")
    }
  }

  @Test("a bank is saved, listed and shown by program number; nothing is replaced without --force")
  func bank() throws {
    let saved = try home.pinna("bank", "save", "evening", "ring7, PHONE5", "--title", "Evening: one")
    #expect(saved.status == 0 && saved.output.hasPrefix("saved 2 presets as "), "\(saved)")
    let list = try home.pinna("bank", "list")
    #expect(list.output == "evening          Evening: one (2 presets)\n", "\(list)")
    let show = try home.pinna("bank", "show", "evening")
    #expect(
      show.output == """
        1   ring7            Stereo ring on a table
        2   phone5           Stereo of what the camera sees, phone held upright

        """, "\(show)")
    let again = try home.pinna("bank", "save", "evening", "ring7")
    #expect(again.status == 1 && again.isOneSentence && again.error.contains("--force"), "\(again)")
    #expect(try home.pinna("bank", "show", "evening").output == show.output)
    #expect(try home.pinna("bank", "save", "evening", "ring7", "--force").status == 0)
    #expect(
      try home.pinna("bank", "show", "evening", "--json").json()["presets"].map { ($0 as? [Any])?.count } == 1
    )
  }

  @Test("a bank's file may be a link, which stays one")
  func link() throws {
    let folder = home.home.configFolder + "/pinna/banks"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let target = home.path + "/dotfiles.yaml"
    try "title: Old\npresets: [phone5]\n".write(toFile: target, atomically: true, encoding: .utf8)
    try FileManager.default.createSymbolicLink(atPath: folder + "/evening.yaml", withDestinationPath: target)
    #expect(try home.pinna("bank", "save", "evening", "ring7", "--force").status == 0)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder + "/evening.yaml") == target)
    #expect(try String(contentsOfFile: target, encoding: .utf8).contains("ring7"))
  }

  @Test("a bank of an unknown preset, and one of an unusable name, are refused, and nothing is written")
  func refused() throws {
    let unknown = try home.pinna("bank", "save", "evening", "ring7,phone9")
    #expect(unknown.status == 1 && unknown.isOneSentence && unknown.error.contains("phone9"), "\(unknown)")
    let name = try home.pinna("bank", "save", "../x", "ring7")
    #expect(name.status == 2 && name.isOneSentence && name.error.contains("not usable"), "\(name)")
    let missing = try home.pinna("bank", "show", "evening")
    #expect(
      missing.status == 1 && missing.isOneSentence && missing.error.contains("pinna bank save"), "\(missing)")
  }

  @Test("preset save and midi learn without a running Pinna have status 4, and write nothing")
  func notRunning() throws {
    for words in [["preset", "save", "mine"], ["midi", "learn", "gain"]] {
      let outcome = try home.pinna(words)
      #expect(outcome.status == 4, "\(outcome)")
    }
    let options = try home.pinna("midi", "learn", "mute", "--from", "3")
    #expect(
      options.status == 2 && options.isOneSentence && options.error.contains("from cannot be given for mute"),
      "\(options)")
  }
}
