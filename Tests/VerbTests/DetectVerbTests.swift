import Foundation
import LiveSupport
import TestSupport
import Testing

@Suite("pinna detect") struct DetectVerbTests {
  let home: VerbHome
  init() throws { home = try VerbHome() }

  static func environment(_ tree: String) -> [String: String] {
    let folder = try! SoundCards.folder(tree)
    return [
      "PINNA_PROC_ASOUND": folder + "/asound", "PINNA_SYSFS": folder + "/sysfs",
      "PINNA_ALSA_STATE": folder + "/alsa", "JACK_DEFAULT_SERVER": LiveGraph.uniqueName(),
    ]
  }

  @Test("detect names the device, its channels and the commands to start")
  func text() throws {
    let outcome = try home.pinna("detect", environment: Self.environment("uma8-raw"))
    #expect(outcome.status == 0 && outcome.hasNoComplaint, "\(outcome)")
    for line in [
      "card 1, SPK: micArray RAW SPK (USB 2752:001d)", "  uma8: miniDSP UMA-8, certain by its USB ID",
      "    capture channels: 1 centre, 2 rim-1, 3 rim-2, 4 rim-3, 5 rim-4, 6 rim-5, 7 rim-6, 8 unused",
    ] {
      #expect(outcome.output.contains(line + "\n"), "\(outcome)")
    }
    #expect(outcome.output.contains("jackd -d alsa -d hw:SPK -r 48000"), "\(outcome)")
    #expect(outcome.output.contains("pinna run --device uma8 --connect"), "\(outcome)")
    #expect(outcome.output.contains("JACK: JACK server \"pinna-live-"), "\(outcome)")
  }

  @Test("detect --json is one document with every card, and without a card it is empty, with status 0")
  func json() throws {
    let two = try home.pinna("detect", "--json", environment: Self.environment("two")).json()
    #expect(Set(two.keys) == ["cards", "captureClients"] && two["captureClients"] is NSNull)
    let cards = try #require(two["cards"] as? [[String: Any]])
    #expect(cards.map { $0["id"] as? String } == ["PCH", "SPK", "CameraB409241"])
    let device = try #require((cards[1]["devices"] as? [[String: Any]])?.first)
    #expect(device["device"] as? String == "uma8" && device["certainty"] as? String == "certain")
    #expect(device["usable"] as? Bool == true && device["obstacle"] is NSNull)
    #expect(device["rates"] as? [Int] == [16000, 44100, 48000])
    #expect((device["microphones"] as? [Any])?.count == 8)
    #expect(device["runCommand"] as? String == "pinna run --device uma8 --connect")
    let none = try home.pinna("detect", "--json", environment: Self.environment("none"))
    let found = try #require(try none.json()["cards"] as? [Any], "\(none)")
    #expect(none.status == 0 && found.isEmpty)
    let words = try home.pinna("detect", environment: Self.environment("none"))
    #expect(words.status == 0 && words.output.hasPrefix("no sound card that captures is plugged in\n"))
  }

  @Test(
    "an unknown card and one of candidates get the commands to start a server and to describe an array",
    arguments: [("webcam", "hw:C920 "), ("interface", "hw:")])
  func unknown(tree: String, card: String) throws {
    let outcome = try home.pinna("detect", environment: Self.environment(tree))
    #expect(outcome.status == 0, "\(outcome)")
    for words in [
      "    describe it:   pinna device new ring NAME", "    JACK:          jackd -d alsa -d \(card)",
      "    then:          pinna run --device ./NAME.yaml --connect",
    ] {
      #expect(outcome.output.contains(words), "\(words): \(outcome)")
    }
  }

  @Test("a malformed device file is named, and the others are found")
  func malformed() throws {
    try home.home.folder.write("title: broken", to: "config/pinna/devices/broken.yaml")
    let outcome = try home.pinna("detect", environment: Self.environment("uma8-raw"))
    #expect(outcome.status == 0 && outcome.output.contains("uma8: miniDSP UMA-8"), "\(outcome)")
    #expect(outcome.error.contains("ignoring the device broken: "), "\(outcome)")
  }
}
