/// What was recorded of the demo, put where it belongs.
///
/// On a busy machine the server leaves clients out of periods, so that the recording slips against what was
/// played. A clock that plays along with the voices tells which frame of them was heard when.
struct DemoHearing {
  let left: [Float]
  let right: [Float]
  /// One microphone, silent where nothing was heard.
  let reference: [Float]
  let lostFrames: Int

  /// A signal that counts its frames from 1; a float does so exactly up to 2²⁴, nearly six minutes at 48 kHz.
  static func clock(_ frames: Int) -> [Float] { (0..<frames).map { Float($0 + 1) } }

  /// - Parameters:
  ///   - recorded: left, right and the clock, as they were recorded.
  ///   - reference: what was played to one microphone.
  init(_ recorded: [[Float]], reference: [Float]) {
    var left = [Float](repeating: 0, count: reference.count)
    var right = left
    var masked = left
    var heard = [Bool](repeating: false, count: reference.count)
    for (n, time) in recorded[2].enumerated() where time > 0 {
      let frame = Int(time) - 1
      left[frame] = recorded[0][n]
      right[frame] = recorded[1][n]
      masked[frame] = reference[frame]
      heard[frame] = true
    }
    self.left = left
    self.right = right
    self.reference = masked
    lostFrames = heard.count { !$0 }
  }
}
