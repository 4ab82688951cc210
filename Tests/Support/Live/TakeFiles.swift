import AudioFiles
import Foundation
import Recording
import TestSupport

/// The files of a take.
public enum TakeFiles {
  public static func microphones(_ path: String) throws -> AudioClip {
    try AudioClip(path: path.replacing(".wav", with: "-microphones.wav"))
  }

  public static func sidecar(_ path: String) throws -> Sidecar {
    try Sidecar.read(path.replacing(".wav", with: ".json"))
  }

  /// Counts the frames of a take's first microphone that are neither in place by the frame clock nor in a gap. Counts all
  /// frames if the first one is silent or the sidecar has another length.
  /// - Parameter afterSilence: whether the clock may begin later, or not at all.
  public static func misplacedFrames(_ path: String, afterSilence: Bool = false) throws -> Int {
    let document = try sidecar(path)
    let raw = try microphones(path).channels[0]
    var start = 0
    if afterSilence {
      guard let heard = raw.firstIndex(where: { FrameClock.time($0) != nil }) else { return 0 }
      start = heard
    }
    guard raw.count == document.frames, let time = FrameClock.time(raw[start]) else { return raw.count }
    let first = time - start
    var isGap = [Bool](repeating: false, count: raw.count)
    for gap in document.gaps { for n in gap.frame..<gap.frame + gap.frames { isGap[n] = true } }
    return raw.indices.count { n in
      FrameClock.time(raw[n]) != (isGap[n] || n < start ? nil : (first + n) & 0x7F_FFFF)
    }
  }

  /// The available readers that tolerate no errors.
  public static let strictReaders: [(path: String, options: [String])] = [
    ("/usr/bin/soxi", []), ("/usr/bin/ffprobe", ["-v", "error", "-show_streams"]),
  ].filter { access($0.0, X_OK) == 0 }

  /// sox 14.4.2 prints this for every WAVE_FORMAT_EXTENSIBLE file of floats, including ffmpeg's: it has
  /// already read the extension, and looks for another. libsndfile's RF64 has no other format.
  private static let soxError = "WARN wav: wave header missing extended part of fmt chunk"

  /// The errors that strict readers find in a WAV file, whatever its extension.
  public static func complaints(_ path: String) throws -> [String] {
    let folder = try TemporaryFolder()
    let link = folder.path + "/take.wav"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    return try strictReaders.compactMap { reader, options in
      let outcome = try Program.run(reader, options + [link])
      let complaints = outcome.error.split(separator: "\n").filter { !$0.hasSuffix(soxError) }
      return outcome.status == 0 && complaints.isEmpty ? nil : "\(reader): \(outcome)"
    }
  }
}

extension LiveGraph {
  /// A graph whose first microphone is connected to the frame clock.
  public static func clocked(period: Int, synchronous: Bool = false, options: [String] = []) throws -> (
    LiveGraph, FrameClock
  ) {
    let graph = try LiveGraph(preset: "phone5", period: period, synchronous: synchronous, options: options)
    return (graph, try graph.frameClock())
  }

  /// A frame clock whose signal the first microphone already receives.
  public func frameClock() throws -> FrameClock {
    let clock = try FrameClock(server: server.name)
    try clock.connect(to: "pinna:" + microphones()[0])
    let isHeard = try waitUntil(seconds: 10) {
      let levels = (try status()["levels"] as? [String: Any])?["microphones"] as? [[String: Any]]
      return levels?.first?["peakDB"] as? Double ?? -150 > -150
    }
    guard isHeard else { throw SupportError("the first microphone does not hear the clock after 10 s") }
    return clock
  }
}
