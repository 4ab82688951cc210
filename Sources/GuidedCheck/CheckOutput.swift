import Acoustics
import Adaptation
import Rendering

/// The outputs of a processor during a check, aligned with the check's scene.
package struct CheckOutput: Sendable {
  package let left: [Float]
  package let right: [Float]
  /// The scene's reference signal, zero in frames that were not recorded.
  package let reference: [Float]
  /// Number of frames that were not recorded.
  package let lostFrames: Int

  /// Frames after which the clock restarts. A float represents integers exactly up to 2²⁴. 2²² frames are 22 s at
  /// 192 kHz, longer than any gap in which a server skips its clients.
  private static let clockPeriod = 1 << 22

  /// The clock signal: sample values count the frames from 1 to `clockPeriod`, over and over.
  package static func clock(_ frames: Int) -> [Float] { (0..<frames).map { Float($0 % clockPeriod + 1) } }

  /// Aligns a recording from a JACK graph with the scene.
  ///
  /// On a busy machine the server skips clients in some periods, so the recording slips against what was played. The
  /// clock is played along with the voices and shows which frame of the scene each recorded frame belongs to.
  /// - Parameters:
  ///   - recorded: channels left, right and clock, as recorded.
  ///   - reference: the scene's reference signal.
  package init(_ recorded: [[Float]], reference: [Float]) {
    var left = [Float](repeating: 0, count: reference.count)
    var right = left
    var masked = left
    var isRecorded = [Bool](repeating: false, count: reference.count)
    var last = -1
    for (n, time) in recorded[2].enumerated() {
      // A rounded or disturbed clock value identifies no frame.
      guard let count = Int(exactly: time), (1...Self.clockPeriod).contains(count) else { continue }
      // Frames arrive in order: this is the first frame after `last` with that clock value.
      let frame = last + 1 + (count - 1 - (last + 1) % Self.clockPeriod + Self.clockPeriod) % Self.clockPeriod
      guard frame < reference.count else { continue }
      last = frame
      left[frame] = recorded[0][n]
      right[frame] = recorded[1][n]
      masked[frame] = reference[frame]
      isRecorded[frame] = true
    }
    self.left = left
    self.right = right
    self.reference = masked
    lostFrames = isRecorded.count { !$0 }
  }

  /// Renders each case of `scene` through the filters of `device` for it, without a server.
  /// - Parameters:
  ///   - channels: for each microphone of `device`, its channel in the scene.
  ///   - adaptation: how far stereo follows the sound, 0…1, with `model`.
  ///   - progress: called with the fraction of the cases that are rendered, 0…1.
  package init(
    _ scene: CheckScene, through sets: FilterSets, of device: Device, channels: [Int],
    adaptation: Double = 0, model: AdaptiveModel? = nil, progress: ((Double) -> Void)? = nil
  ) throws {
    var (left, right): ([Float], [Float]) = ([], [])
    for (n, one) in scene.cases.enumerated() {
      let frames = scene.frames(ofCase: n)
      let rendered = try sets.render(
        channels.map { Array(scene.microphones.channels[$0][frames]) }, selection: one.selection, of: device,
        adaptation: adaptation, model: one.isStereo ? model : nil, period: 256)
      left += rendered.left
      right += rendered.right
      progress?(Double(n + 1) / Double(scene.cases.count))
    }
    self.left = left
    self.right = right
    reference = Array(scene.reference.prefix(left.count))
    lostFrames = 0
  }

  /// Plays `scene` through one engine whose selection changes from case to case while sound flows, without a server.
  /// - Parameter device: the device of the scene.
  package init(_ scene: CheckScene, inOneRunThrough sets: FilterSets, of device: Device) throws {
    let period = 256
    let changes = scene.cases.enumerated().dropFirst().map { n, one in
      // Whole periods only, as in a graph.
      let frame = (scene.frames(ofCase: n).lowerBound + period - 1) / period * period
      return (frame: frame, selection: one.selection)
    }
    (left, right) = try sets.render(
      scene.microphones.channels, selection: scene.cases[0].selection, of: device, changes: changes,
      period: period)
    reference = Array(scene.reference.prefix(left.count))
    lostFrames = 0
  }
}
