import Foundation
import JackTools

// Sound is waited for in frames, not in seconds: then so much of it has passed, however slow the machine is.

extension PinnaHome {
  /// Waits until so many frames of the running take are on disk.
  public func waitForTake(frames: Int, seconds: Double = 60) throws {
    let sender = try ControlSender(runtimeFolder: runtimeFolder)
    var count = 0
    // As often as the disk thread writes.
    let isThere = try waitUntil(seconds: seconds, every: 20) {
      count = try takeFrames(sender)
      return count >= frames
    }
    guard isThere else {
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

extension LiveGraph {
  /// Frames of the running take that are on disk.
  public func takeFrames() throws -> Int { try home.takeFrames(sender()) }

  /// Waits until so many frames of the running take are on disk.
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
