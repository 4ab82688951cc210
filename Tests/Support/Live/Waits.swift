import Foundation
import JackTools

// Tests wait for a number of frames, not seconds, so that enough audio has passed on a slow machine.

extension PinnaHome {
  /// Waits until the running take has at least `frames` frames on disk.
  public func waitForTake(frames: Int, seconds: Double = 60) throws {
    let sender = try ControlSender(runtimeFolder: runtimeFolder)
    var count = 0
    // As often as the disk thread writes.
    let isLongEnough = try waitUntil(seconds: seconds, every: 20) {
      count = try takeFrames(sender)
      return count >= frames
    }
    guard isLongEnough else {
      throw SupportError("the take has \(count) frames after \(seconds) s, not \(frames)")
    }
  }

  func takeFrames(_ sender: ControlSender) throws -> Int {
    sender.send("/pinna/status")
    guard let reply = sender.reply(seconds: 10) else { throw SupportError("pinna does not answer") }
    let status = try JSONSerialization.jsonObject(with: Data(reply.text.utf8)) as? [String: Any]
    guard let frames = (status?["take"] as? [String: Any])?["frames"] as? Int else {
      throw SupportError("no take is running: \(reply.text)")
    }
    return frames
  }
}

extension Program {
  /// Whether it writes `text` to standard error within `seconds`. Pinna may do so a moment after its status tells the same.
  public func says(_ text: String, seconds: Double = 5) -> Bool {
    waitUntil(seconds: seconds) { errorText.contains(text) }
  }
}

extension PinnaGraph {
  public func says(_ text: String, seconds: Double = 5) -> Bool { program.says(text, seconds: seconds) }

  /// The running take's frames on disk.
  public func takeFrames() throws -> Int { try home.takeFrames(sender()) }

  /// Waits until the running take has at least `frames` frames on disk.
  public func waitForTake(frames: Int, seconds: Double = 60) throws {
    try home.waitForTake(frames: frames, seconds: seconds)
  }
}

extension SignalPlayer {
  /// Waits until `frames` more have been played.
  public func wait(frames: Int) throws {
    let end = framesPlayed + frames
    guard waitUntil(seconds: 60, { framesPlayed >= end }) else {
      throw SupportError("the player has played \(framesPlayed) frames after 60 s, not \(end)")
    }
  }
}

extension SignalRecorder {
  /// Waits until `count` more have been recorded.
  public func wait(frames count: Int) throws {
    let end = frames + count
    guard waitUntil(seconds: 60, { frames >= end }) else {
      throw SupportError("the recorder has recorded \(frames) frames after 60 s, not \(end)")
    }
  }
}
