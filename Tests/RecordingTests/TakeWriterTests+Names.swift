import AudioFiles
import Foundation
import LiveSupport
import Realtime
import Recording
import TestSupport
import Testing

extension TakeWriterTests {
  @Test("R19: a sidecar that appeared under the take's name is not overwritten, and the take says so")
  mutating func takenSidecar() throws {
    let writer = try writer()
    let json = writer.openPath.replacing(".wav", with: ".json")
    try folder.write("mine", to: URL(filePath: json).lastPathComponent)
    let result = try take(writer, periods: 2)
    #expect(try String(contentsOfFile: json, encoding: .utf8) == "mine")
    #expect(try #require(result.fault).contains("\(json) could not be written: File exists"))
    #expect(try Sidecar.read(json + ".part").frames == result.frames)
  }

  @Test("R19: a take follows no symbolic link or .., enters only folders, and overwrites nothing")
  func paths() throws {
    let real = TakeFolder.resolve(folder.path)
    try folder.write("x", to: "file")
    try FileManager.default.createSymbolicLink(atPath: real + "/link", withDestinationPath: "/tmp")
    mkfifo(real + "/fifo", 0o600)
    try FileManager.default.createDirectory(atPath: real + "/a", withIntermediateDirectories: false)
    let plan = TakePlan(
      outputs: 2, sampleRate: 48000, options: TakeOptions(), setup: Self.setup,
      preRoll: PreRoll(microphones: 3, capacityFrames: 0))
    let hostile =
      [
        "link", "link/below", "a/..", "a/../a", "../etc", "file", "file/below", "fifo", "fifo/below",
      ].map { real + "/" + $0 } + [
        "/dev/null", "/dev/null/a", "relative", "", "/proc/self/fd/0", "/proc/pinna",
        // Longer than what the system takes, with the name of a file behind it.
        real + String(repeating: "/" + String(repeating: "d", count: 200), count: 19),
        real + String(repeating: "/d", count: 50_000),
      ]
    for path in hostile {
      #expect(throws: TakeError.self, "\(path)") {
        try TakeWriter(folder: path, plan: plan).opened()
      }
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: real).sorted() == ["a", "fifo", "file", "link"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: real + "/a").isEmpty)

    // Every name that a take of this second could have is used by a file of some other kind.
    let (takes, date) = (TakeFolder(path: real + "/a"), Date(timeIntervalSince1970: 1_790_000_000))
    let place = try takes.open()
    let (first, unused) = try takes.claim(in: place, preset: "p", date: date)
    unused.discard()
    #expect(first.hasSuffix("-p-1"))
    let endings = [".wav", ".wav.part", "-microphones.wav.part", ".json", "_2.wav", ".flac", "-room.wav"]
    let existing = try endings.enumerated().map { n, ending in
      try folder.write("mine", to: "a/\(first.dropLast())\(n + 1)\(ending)")
    }
    let (stem, sidecar) = try takes.claim(in: place, preset: "p", date: date)
    #expect(stem == first.dropLast() + "8")
    sidecar.discard()
    #expect(try existing.allSatisfy { try String(contentsOfFile: $0, encoding: .utf8) == "mine" })
    #expect(try FileManager.default.contentsOfDirectory(atPath: real + "/a").count == existing.count)
  }

  @Test("R19: pipes that nobody writes to do not block listing or repair")
  mutating func pipes() throws {
    let result = try take(try writer(), periods: 2)
    for name in ["a.json", "b.json.part", "c.wav.part", "d.json.part", "d.wav.part"] {
      #expect(mkfifo("\(folder.path)/\(name)", 0o600) == 0)
    }
    let takes = TakeFolder(path: folder.path)
    #expect(takes.takes().map(\.path) == [TakeFolder.resolve(result.path)])
    #expect(takes.repair().allSatisfy { $0.fault != nil })
  }

  @Test("the companions that macOS writes beside files (._NAME) are no takes")
  mutating func companions() throws {
    let result = try take(try writer(), periods: 2)
    let name = URL(filePath: result.path).lastPathComponent
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      try folder.write(Data([0, 5, 22, 7, 0, 2, 0, 0]), to: "._" + name)
    }
    try folder.write(Data([0, 5, 22, 7]), to: "._cut.wav.part")
    try folder.write(Data([0, 5, 22, 7]), to: "._cut.json.part")
    let takes = TakeFolder(path: TakeFolder.resolve(folder.path))
    var complaints: [String] = []
    #expect(takes.takes { complaints.append($0) }.map(\.path) == [takes.path + "/" + name])
    #expect(takes.endedTakes { complaints.append($1) }.map { $0.stem + ".wav" } == [name])
    #expect(takes.newestNames(20) == [name])
    #expect(takes.repair().isEmpty && complaints.isEmpty, "\(complaints)")
  }

  @Test("a link to a folder that is missing is refused as such")
  func missingTarget() throws {
    let path = TakeFolder.resolve(folder.path) + "/card"
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/nowhere/card")
    #expect(TakeFolder.resolve(path) == path)
    let error = #expect(throws: TakeError.self) { try TakeFolder(path: path).open() }
    #expect(error?.description.contains("card is a symbolic link whose target is missing") == true)
  }

  @Test("takes are listed by when they began, whatever the clocks showed, and renamed ones among them")
  mutating func order() throws {
    let result = try take(try writer(), periods: 2)
    let sidecar = result.path.replacing(".wav", with: ".json")
    let text = try String(contentsOfFile: sidecar, encoding: .utf8)
    let sound = try Data(contentsOf: URL(filePath: result.path))
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      try FileManager.default.removeItem(atPath: folder.path + "/" + name)
    }
    // The oldest first.
    let takes = [
      ("2026-10-24T120000-p-1", "2026-10-24T12:00:00.000+02:00"),
      // Summer time ends.
      ("2026-10-25T025900-p-1", "2026-10-25T02:59:00.000+02:00"),
      ("2026-10-25T020100-p-1", "2026-10-25T02:01:00.000+01:00"),
      ("concert", "2026-10-25T12:00:00.000+01:00"),
      ("2026-10-25T201000-p-1", "2026-10-25T20:10:00.100+01:00"),
      ("2026-10-25T201000-p-2", "2026-10-25T20:10:00.900+01:00"),
      // Over the date line, from Kiribati to Baker Island.
      ("2026-10-27T150000-p-1", "2026-10-27T15:00:00.000+14:00"),
      ("2026-10-26T133000-p-1", "2026-10-26T13:30:00.000-12:00"),
      ("Applause", "2026-10-28T12:00:00.000+01:00"),
    ]
    for (stem, started) in takes {
      try folder.write(sound, to: stem + ".wav")
      let own = text.replacing(/"started" : "[^"]*"/, with: "\"started\" : \"\(started)\"")
      #expect(own != text)
      try folder.write(own, to: stem + ".json")
    }
    let listed = TakeFolder(path: TakeFolder.resolve(folder.path))
    let names = takes.map { $0.0 + ".wav" }
    #expect(listed.takes().map { URL(filePath: $0.path).lastPathComponent } == names)
    for most in 0...names.count + 1 {
      #expect(listed.newestNames(most) == Array(names.reversed().prefix(most)), "\(most)")
    }
  }

  @Test("the newest takes are found without a look at sidecars of days before")
  mutating func unreadSidecars() throws {
    for n in 0..<600 {
      let stem = "20\(10 + n / 60)-0\(1 + n / 20 % 3)-\(10 + n % 20)T120000-p-1"
      try folder.write("", to: stem + ".wav")
      // Whoever reads this takes it for the newest.
      try folder.write(#"{"started": "2027-01-01T12:00:00.000+01:00"}"#, to: stem + ".json")
    }
    for n in 1...20 {
      try folder.write("", to: "2026-11-\(n + 9)T120000-p-1.wav")
      try folder.write(
        "{\"started\": \"2026-11-\(n + 9)T12:00:00.000+01:00\"}", to: "2026-11-\(n + 9)T120000-p-1.json")
    }
    let newest = TakeFolder(path: TakeFolder.resolve(folder.path)).newestNames(20)
    #expect(newest == (10...29).reversed().map { "2026-11-\($0)T120000-p-1.wav" })
  }
}
