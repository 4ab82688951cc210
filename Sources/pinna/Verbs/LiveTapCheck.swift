import ArrayCheck
import AudioFiles
import Glibc
import JackClient
import JackTools
import Messages
import Settings

extension LiveArraySound {
  /// Blocks without a sound after which the next microphone's turn begins: 0.7 s, for taps that come in twos.
  private static let pause = 35
  /// How long that is waited for, in seconds.
  private static let longestPause = 3

  /// Asks for a tap on every microphone in turn, and listens to each for `seconds`.
  ///
  /// Waits: at most `seconds` and 13 more per microphone.
  /// - Returns: the channel that answered each; nil where none did.
  func taps() throws -> [TapAnswer?] {
    try withSources { requests, rate, sources in
      WorkProgress.unwatch()
      var answers: [TapAnswer?] = []
      for (m, microphone) in device.microphones.enumerated() {
        let capacity = (seconds + Self.longestPause) * rate
        let recorder = try recorder(requests, name: "tap-\(m + 1)", sources: sources, frames: capacity)
        Output.show("tap on \(microphone.name)\n")
        let answer = try answer(recorder, rate: rate)
        let text =
          answer.map { "\(device.microphones[$0.channel].name) answers" } ?? "no answer in \(seconds) s"
        Output.show("  \(text)\n")
        answers.append(answer)
      }
      return answers
    }
  }

  /// - Throws: if the user or the server stops.
  private func answer(_ recorder: SignalRecorder, rate: Int) throws -> TapAnswer? {
    let block = Int(TapListener.blockDuration * Double(rate))
    var listener = TapListener(channels: device.microphones.count)
    var answer: TapAnswer?
    var read = 0
    var limit = seconds * rate
    let end = ContinuousClock.now + .seconds(seconds + Self.longestPause + 10)
    while read + block <= limit {
      guard stops.count == 0 else {
        throw Failure(.failed, "interrupted; start again with the first microphone")
      }
      guard .now < end else {
        throw Failure(
          .noServer, "the JACK server delivers no sound any more; start it again, then this check")
      }
      guard recorder.frames >= read + block else {
        usleep(10_000)
        continue
      }
      let heard = listener.hear(recorder.channels(at: read, count: block))
      read += block
      if let heard, answer == nil {
        answer = heard
        limit = min(read + Self.longestPause * rate, (seconds + Self.longestPause) * rate)
      }
      if answer != nil, listener.quietBlocks >= Self.pause { break }
    }
    return answer
  }
}
