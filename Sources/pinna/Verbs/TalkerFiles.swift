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

  /// When they speak, in seconds of the take.
  func times(of name: String) -> [(begin: Double, end: Double)] {
    utterances.filter { $0.name == name }.map { ($0.begin, $0.end) }
  }

  /// TAKE.rttm.
  var list: (name: String, text: String, remarks: [String]) {
    let (text, remarks) = TalkerFormat.rttm.text(utterances, of: recording.name)
    return (recording.name + ".rttm", text, recording.remarks + remarks)
  }
}
