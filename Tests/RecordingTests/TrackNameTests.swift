import AudioFiles
import Foundation
import LiveSupport
import Recording
import TestSupport
import Testing

@Suite("Names of tracks in WAV files") struct TrackNameTests {
  let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  /// The chunk iXML of a WAV file, by a reader that goes from chunk to chunk.
  static func iXML(_ path: String) throws -> String? {
    let bytes = try Data(contentsOf: URL(filePath: path))
    func number(_ at: Int) -> Int { (0..<4).reduce(0) { $0 | Int(bytes[at + $1]) << (8 * $1) } }
    var at = 12
    while at + 8 <= bytes.count {
      let (name, length) = (String(decoding: bytes[at..<at + 4], as: UTF8.self), number(at + 4))
      if name == "iXML" { return String(decoding: bytes[at + 8..<at + 8 + length], as: UTF8.self) }
      if name == "data" { return nil }
      at += 8 + length + length % 2
    }
    return nil
  }

  /// The names in that chunk, by an XML parser of another program.
  static func names(_ path: String) throws -> [String] {
    let text = try #require(try iXML(path))
    let script = """
      import sys, xml.etree.ElementTree as e
      tracks = e.fromstring(sys.stdin.buffer.read().strip()).find('TRACK_LIST')
      assert int(tracks.find('TRACK_COUNT').text) == len(tracks.findall('TRACK'))
      for n, track in enumerate(tracks.findall('TRACK')):
          assert track.find('INTERLEAVE_INDEX').text == track.find('CHANNEL_INDEX').text == str(n + 1)
          print(track.find('NAME').text)
      """
    let folder = try TemporaryFolder()
    try folder.write(text, to: "chunk.xml")
    let outcome = try Program.run(
      "/bin/sh", ["-c", "exec /usr/bin/python3 -c \"$1\" < \"$2\"", "sh", script, folder.path + "/chunk.xml"])
    try #require(outcome.status == 0, "\(outcome)")
    return outcome.output.split(separator: "\n").map(String.init)
  }

  static let tracks = ["front & back", "<left>", "W", "außen"]

  @Test(
    "a file's header has the names from the first frame on, and sound and names survive a kill and a repair")
  func killed() throws {
    let open = try #require(OpenFolder(path: folder.path))
    for encoding in SampleEncoding.allCases {
      let writer = try AudioFileWriter(
        folder: open, name: "live.wav", encoding: encoding, channels: 4, sampleRate: 48000,
        areMicrophones: true, labels: SoundLabels(broadcast: .unknown, trackNames: Self.tracks))
      try writer.write([Float](repeating: 0.25, count: 400))
      try writer.flush()
      writer.setBroadcast(.simulated("x"))
      try writer.write([Float](repeating: 0.25, count: 404))
      try FileManager.default.copyItem(
        atPath: folder.path + "/live.wav.part", toPath: folder.path + "/cut.wav.part")
      #expect(try Self.names(folder.path + "/cut.wav.part") == Self.tracks)
      try writer.close()
      let cut = try UnfinishedWAVFile(path: folder.path + "/cut.wav")
      #expect(cut.frames == 201)
      try cut.finish(frames: 201)
      let (whole, repaired) = (folder.path + "/live.wav", folder.path + "/cut.wav")
      #expect(try Data(contentsOf: URL(filePath: whole)) == Data(contentsOf: URL(filePath: repaired)))
      #expect(try Self.names(whole) == Self.tracks)
      let clip = try AudioClip(path: whole)
      #expect(clip.channels == [[Float]](repeating: [Float](repeating: 0.25, count: 201), count: 4))
      for path in [whole, repaired] { unlink(path) }
    }
  }

  @Test("a file larger than 4 GiB keeps its names")
  func large() throws {
    let open = try #require(OpenFolder(path: folder.path))
    let writer = try AudioFileWriter(
      folder: open, name: "large.wav", encoding: .float32, channels: 4, sampleRate: 48000,
      labels: SoundLabels(broadcast: .unknown, trackNames: Self.tracks))
    // A hole, which takes no space.
    try writer.skip(frames: 300_000_000)
    try writer.flush()
    try writer.close()
    let file = try #require(FileHandle(forReadingAtPath: folder.path + "/large.wav"))
    let head = try #require(try file.read(upToCount: 4096))
    #expect(head.prefix(4) == Data("RF64".utf8) && head.firstRange(of: Data("<NAME>W</NAME>".utf8)) != nil)
    #expect(try AudioFileReader(path: folder.path + "/large.wav").frames == 300_000_000)
  }
}

extension TakeWriterTests {
  @Test("every WAV file of a take names its tracks: feeds by their names, microphones by theirs")
  mutating func trackNames() throws {
    try startFeeds()
    let result = try take(try writer(Self.all), periods: 4)
    let names = [
      "": ["left", "right"], "-anna": ["anna"], "-room": ["room W", "room Y", "room Z", "room X"],
      "-microphones": ["a", "b", "c"],
    ]
    for (ending, names) in names {
      let path = stem(result) + ending + ".wav"
      #expect(try TrackNameTests.names(path) == names)
      // Other readers.
      for program in [["/usr/bin/sox", path, "-n", "stat"], ["/usr/bin/ffprobe", "-v", "warning", path]]
      where access(program[0], X_OK) == 0 {
        let outcome = try Program.run(program[0], Array(program.dropFirst()))
        #expect(outcome.status == 0, "\(outcome)")
      }
    }
  }
}
