import Acoustics
import ArrayCheck
import AudioFiles
import Foundation
import TestSupport
import Testing

/// A recording of one talker by a real line of eight microphones, which is not part of the repository.
@Suite("The check of a real recording")
struct RealRecordingTests {
  static let path = repositoryFolder + "/../shared/data/linear8-speech-16k.wav"
  static let isThere = FileManager.default.fileExists(atPath: path)

  /// The file has its microphones in another order: its last channel is the first one's neighbour, by every coherence.
  private func found(_ change: (inout [[Float]]) -> Void) throws -> ArrayVerdict {
    let clip = try AudioClip(path: Self.path)
    var signals = clip.channels
    signals.insert(signals.removeLast(), at: 0)
    change(&signals)
    return try ArrayCheck.verdict(on: signals, of: ArrayScenes.device("linear8"), sampleRate: clip.sampleRate)
  }

  @Test(
    "in its real order nothing is found",
    .enabled(if: isThere, "no ../shared/data/linear8-speech-16k.wav"))
  func clean() throws {
    let verdict = try found { _ in }
    #expect(verdict.isWell, "\(verdict.findings.map(\.sentence)) \(verdict.notJudged)")
  }

  @Test(
    "inverted, louder, exchanged and shifted, each is found",
    .enabled(if: isThere, "no ../shared/data/linear8-speech-16k.wav"))
  func errors() throws {
    for m in 0..<8 {
      let inverted = try found { $0[m] = $0[m].map { -$0 } }
      #expect(
        inverted.findings.map(\.kind) == [.inverted] && inverted.findings[0].microphones == [m],
        "\(m) \(inverted.findings.map(\.sentence))")
      let louder = try found { $0[m] = $0[m].map { 3 * $0 } }
      #expect(
        louder.findings.map(\.kind) == [.level] && louder.findings[0].microphones == [m],
        "\(m) \(louder.findings.map(\.sentence))")
    }
    for (a, b) in [(0, 1), (2, 3), (0, 7), (1, 5), (6, 7), (3, 4)] {
      let verdict = try found { $0.swapAt(a, b) }
      #expect(
        verdict.findings.map(\.kind) == [.swapped] && Set(verdict.findings[0].microphones) == [a, b],
        "\(a) \(b) \(verdict.findings.map(\.sentence)) \(verdict.notJudged)")
    }
    let shifted = try found { $0.append($0.removeFirst()) }
    #expect(shifted.findings.map(\.kind) == [.permuted], "\(shifted.findings.map(\.sentence))")
  }
}
