import Acoustics
import Rendering

/// What came out of a processor while the voices of a check spoke.
package struct CheckOutput: Sendable {
  package let left: [Float]
  package let right: [Float]
  /// What was to be heard, silent where nothing was recorded.
  package let reference: [Float]
  package let lostFrames: Int

  /// Where the clock starts again: a float counts exactly up to 2²⁴, and no server leaves clients out for 22 s, which
  /// these are at 192 kHz.
  private static let turn = 1 << 22

  /// A signal that counts its frames from 1 to `turn`, again and again.
  package static func clock(_ frames: Int) -> [Float] { (0..<frames).map { Float($0 % turn + 1) } }

  /// What was recorded in a graph, put where it belongs.
  ///
  /// On a busy machine the server leaves clients out of periods, so that the recording slips against what was
  /// played. A clock that plays along with the voices tells which frame of them was heard when.
  /// - Parameter recorded: left, right and the clock, as they were recorded.
  package init(_ recorded: [[Float]], reference: [Float]) {
    var left = [Float](repeating: 0, count: reference.count)
    var right = left
    var masked = left
    var heard = [Bool](repeating: false, count: reference.count)
    var last = -1
    for (n, time) in recorded[2].enumerated() {
      // A clock that is rounded, or that something else disturbed, names no frame.
      guard let count = Int(exactly: time), (1...Self.turn).contains(count) else { continue }
      // Frames come in order.
      let frame = last + 1 + (count - 1 - (last + 1) % Self.turn + Self.turn) % Self.turn
      guard frame < reference.count else { continue }
      last = frame
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

  /// Without a server: each case of `scene` through the filters that `device` has for it.
  /// - Parameter channels: which of the scene's microphones is which of the device's.
  package init(_ scene: CheckScene, through sets: FilterSets, of device: Device, channels: [Int]) throws {
    var (left, right): ([Float], [Float]) = ([], [])
    for (n, one) in scene.cases.enumerated() {
      let frames = scene.frames(ofCase: n)
      let rendered = try sets.render(
        channels.map { Array(scene.microphones.channels[$0][frames]) }, selection: one.selection, of: device)
      left += rendered.left
      right += rendered.right
    }
    self.left = left
    self.right = right
    reference = Array(scene.reference.prefix(left.count))
    lostFrames = 0
  }
}
