import Acoustics
import Messages
import Recording
import Settings
import Text

/// The files of `render --talkers`: one for each who speaks in a take, silent where they are, and who spoke when.
struct TalkerFiles {
  private let recording: TalkerRecording
  private let utterances: [Utterance]

  /// - Throws: also if nobody speaks.
  init(_ path: String) throws {
    var recording = try TalkerRecording(path, device: nil)
    utterances = try recording.utterances(seats: [])
    self.recording = recording
    guard !utterances.isEmpty else {
      throw Failure(.failed, "nobody speaks in \(path), so that there is no file of a talker")
    }
  }

  /// In the order in which they first spoke.
  var names: [String] {
    var names: [String] = []
    for utterance in utterances.sorted(by: { $0.number < $1.number }) where !names.contains(utterance.name) {
      names.append(utterance.name)
    }
    return names
  }

  /// Where they were when they spoke longest.
  var seats: [Seat] {
    names.compactMap { name in
      let longest = utterances.filter { $0.name == name }.max { $0.duration < $1.duration }
      return longest.map { Seat(name: name, look: $0.look) }
    }
  }

  /// The same under their numbers.
  var numbered: [Seat] {
    Set(utterances.map(\.number)).sorted().compactMap { number in
      let longest = utterances.filter { $0.number == number }.max { $0.duration < $1.duration }
      return longest.map { Seat(name: "\(number)", look: $0.look) }
    }
  }

  /// The name of a file without its ending: no path, not hidden, and no other talker's.
  func fileName(_ name: String) -> String {
    func plain(_ name: String) -> String {
      let word = name.printable.replacing("/", with: "_")
      return word.hasPrefix(".") ? "_" + word.dropFirst() : word
    }
    let same = names.filter { plain($0).lowercased() == plain(name).lowercased() }
    return plain(name) + (same.first == name ? "" : " \(same.firstIndex(of: name)! + 1)")
  }

  /// - Parameter frame: of the take, with which its sound begins.
  func gate(_ name: String, from frame: Int, sampleRate: Int) -> SoundGate {
    SoundGate(
      utterances.filter { $0.name == name }.map { ($0.begin, $0.end) }, from: frame, sampleRate: sampleRate)
  }

  /// TAKE.rttm.
  var list: (name: String, text: String, remarks: [String]) {
    let (text, remarks) = TalkerFormat.rttm.text(utterances, of: recording.name)
    return (recording.name + ".rttm", text, recording.remarks + remarks)
  }
}

/// Lets sound pass in some spans of time, and a little before and after.
final class SoundGate {
  /// In order, apart from each other.
  private var spans: [Range<Int>] = []
  private let fade: Int
  private var position: Int

  /// Seconds that pass around each span, and in which sound comes and goes.
  private static let (margin, fadeTime) = (0.25, 0.02)

  /// - Parameter times: in seconds.
  init(_ times: [(begin: Double, end: Double)], from frame: Int, sampleRate: Int) {
    position = frame
    let rate = Double(sampleRate)
    fade = Int(Self.fadeTime * rate)
    for time in times.sorted(by: { $0.begin < $1.begin }) {
      let span = Int((time.begin - Self.margin) * rate)..<Int((time.end + Self.margin) * rate)
      if let last = spans.last, last.upperBound >= span.lowerBound {
        spans[spans.count - 1] = last.lowerBound..<max(last.upperBound, span.upperBound)
      } else {
        spans.append(span)
      }
    }
  }

  /// - Parameter channels: the next frames, `[channel][frame]`.
  func pass(_ channels: [[Float]]) -> [[Float]] {
    let range = position..<position + (channels.first?.count ?? 0)
    position = range.upperBound
    var gains = [Float](repeating: 0, count: range.count)
    spans.removeAll { $0.upperBound <= range.lowerBound }
    for span in spans.prefix(while: { $0.lowerBound < range.upperBound }) {
      for n in span.clamped(to: range) {
        let inside = min(n - span.lowerBound, span.upperBound - n, fade)
        gains[n - range.lowerBound] = Float(inside) / Float(fade)
      }
    }
    return channels.map { zip($0, gains).map { $0 * $1 } }
  }
}
