import AudioFiles
import Foundation
import LiveSupport
import Recording
import TestSupport
import Testing

/// What a rendered take says beside its sound, read by other programs.
@Suite("Time, title, markers and track names of rendered takes") struct TakeLabelTests {
  let home: VerbHome
  static let reference = 48_000 * 3600 + 123

  init() throws {
    home = try VerbHome()
    let whole = SeededNoise.channels(2, 6000, amplitude: 0.2, seed: 6)
    try home.writeTake("split", whole, [2000, 4000])
    var start = 0
    for (name, frames) in [("split", 2000), ("split_2", 4000)] {
      unlink("\(home.path)/\(name)-microphones.wav")
      let writer = try AudioFileWriter(
        path: "\(home.path)/\(name)-microphones.wav", channels: 2, sampleRate: 48000, areMicrophones: true,
        broadcast: BroadcastExtension(
          description: "pair microphones, recorded by pinna", date: "2026-11-28", time: "01:00:00",
          timeReference: Self.reference + start))
      for n in start..<start + frames { try writer.write([whole[0][n], whole[1][n]]) }
      try writer.close()
      start += frames
    }
    let path = home.path + "/split.json"
    var text = try String(contentsOfFile: path, encoding: .utf8)
    text.replace(
      #""state": "complete","#,
      with: #""state": "complete", "title": "Rehearsal = 1 & 2", "started": "2026-11-28T01:00:00.003+01:00","#
        + #" "markers": [{"frame": 500, "label": "verse"}, {"frame": 2500, "label": "Zweite Strophe ä"}],"#)
    try text.write(toFile: path, atomically: true, encoding: .utf8)
  }

  /// By Python alone.
  private static let reader = """
    import struct, sys
    b = open(sys.argv[1], 'rb').read(); p = 12; r = {}
    while p < len(b) - 8:
        i, n = b[p:p+4], struct.unpack('<I', b[p+4:p+8])[0]
        r.setdefault(i, []).append(b[p+8:p+8+n]); p += 8 + n + (n & 1)
    e = r[b'bext'][0]; q = r[b'cue '][0] if b'cue ' in r else bytes(4)
    print(struct.unpack('<Q', e[338:346])[0], e[320:330].decode(), e[330:338].decode())
    print([struct.unpack('<I', q[8+24*k:12+24*k])[0] for k in range(struct.unpack('<I', q[:4])[0])])
    print([x[12:x.index(0, 12)].decode() for x in (c[c.index(b'labl'):] for c in r.get(b'LIST', []) if c[:4] == b'adtl')])
    print([c[c.index(b'INAM')+8:].split(bytes(1))[0].decode() for c in r.get(b'LIST', []) if b'INAM' in c])
    print([t.split('</NAME>')[0] for t in r[b'iXML'][0].decode().split('<NAME>')[1:]])
    """

  private func read(_ name: String) throws -> [String] {
    let script = try home.home.folder.write(Self.reader, to: "read.py")
    let outcome = try home.shell("python3 \(script) \(name)")
    #expect(outcome.status == 0, "\(outcome)")
    return outcome.output.split(separator: "\n").map(String.init)
  }

  @Test("WAV keeps them, also of split pieces, of --into, --feeds and --takes, and of other patterns")
  func wav() throws {
    let first = [
      "\(Self.reference) 2026-11-28 01:00:00", "[500]", "['verse']", "['Rehearsal = 1 & 2']",
    ]
    let second = [
      "\(Self.reference + 2000) 2026-11-28 01:00:00", "[500]", "['Zweite Strophe ä']",
      "['Rehearsal = 1 & 2']",
    ]
    try home.home.folder.write("feeds: {anna: {polarPattern: omnidirectional}}\n", to: "f.yaml")
    #expect(try home.shell("mkdir elsewhere && cp split* elsewhere").status == 0)
    for (line, file, expected, names) in [
      ("split-microphones.wav a.wav", "a.wav", first, "['left', 'right']"),
      ("split_2-microphones.wav b.wav", "b.wav", second, "['left', 'right']"),
      ("--pattern omnidirectional split-microphones.wav c.wav", "c.wav", first, "['main']"),
      ("split.json --into all", "all/main.wav", first, "['left', 'right']"),
      ("split.json --feeds f.yaml --into feeds", "feeds/anna.wav", first, "['anna']"),
      ("--takes elsewhere --into batch", "batch/split_2.wav", second, "['left', 'right']"),
    ] {
      let outcome = try home.shell("$PINNA render \(line)")
      #expect(outcome.status == 0, "\(outcome)")
      #expect(try read(file) == expected + [names], "\(line)")
    }
    // What was rendered is no recording.
    #expect(try home.shell("$PINNA render --force split-microphones.wav a.wav").status == 0)
  }

  @Test("FLAC and Opus keep them as comments and chapters, which ffprobe reads")
  func compressed() throws {
    for ending in ["flac", "opus"] {
      let outcome = try home.shell("$PINNA render split_2-microphones.wav o.\(ending)")
      #expect(outcome.status == 0, "\(outcome)")
      let probe = try home.shell(
        "ffprobe -v error -show_chapters -show_entries format_tags:stream_tags o.\(ending)")
      let text = probe.output.lowercased()
      for line in [
        "time_reference=\(Self.reference + 2000)", "date=2026-11-28", "title=rehearsal = 1 & 2",
        "track_name_1=left", "zweite strophe ä", "chapter000frame=500", "start_time=0.010",
      ] { #expect(text.contains(line), "\(line): \(probe)") }
      #expect(!text.contains("mask"))
      #expect(try AudioFileReader(path: home.path + "/o.\(ending)").broadcast?.description.isEmpty == false)
    }
  }

  @Test("CAF keeps them as information and markers; FLAC of B-format belongs to no loudspeakers")
  func ambisonics() throws {
    let caf = try home.shell("$PINNA render --format ambix split-microphones.wav o.caf")
    #expect(caf.status == 0, "\(caf)")
    let bytes = try Data(contentsOf: URL(filePath: home.path + "/o.caf"))
    for text in [
      "time reference\0\(Self.reference)\0", "date\u{0}2026-11-28T01:00:00", "Rehearsal", "verse\0",
    ] {
      #expect(bytes.firstRange(of: Data(text.utf8)) != nil, "\(text)")
    }
    let mark = try #require(bytes.firstRange(of: Data("mark".utf8))).upperBound
    #expect(bytes[mark + 8 + 8 + 4..<mark + 8 + 8 + 12].elementsEqual([0x40, 0x7F, 0x40, 0, 0, 0, 0, 0]))
    #expect(try AudioClip(path: home.path + "/o.caf").channels.count == 4)
    let flac = try home.shell(
      "$PINNA render --format ambix split-microphones.wav o.flac && ffprobe -v error -show_entries format_tags o.flac"
    )
    #expect(flac.output.contains("WAVEFORMATEXTENSIBLE_CHANNEL_MASK=0x0"), "\(flac)")
  }

  @Test("a take's own B-format, and all that render makes of it, is not taken for capsules")
  func ownBFormat() throws {
    let made = try home.shell(
      "for e in wav flac caf; do $PINNA render --format ambix split-microphones.wav b.$e || exit 1; done; "
        + "$PINNA render --format ambix split-microphones.wav - >pipe.wav")
    #expect(made.status == 0, "\(made)")
    for line in [
      "render --preset tetramic b.wav no.wav", "render --preset tetramic b.flac no.wav",
      "render --preset tetramic b.caf no.wav", "render --preset tetramic - no.wav <pipe.wav",
      "render --preset tetramic - no.wav <b.wav", "array check --device tetramic b.wav",
      "array calibrate --device tetramic --yes b.flac",
    ] {
      let outcome = try home.shell("$PINNA \(line)")
      #expect(
        outcome.status == 1 && outcome.isOneSentence && outcome.error.contains("B-format"), "\(outcome)")
    }
    #expect(!home.contents("").contains("no.wav"))
  }
}
