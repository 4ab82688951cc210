import Acoustics
import Foundation
import Recording

/// The answer to every change (S14).
package struct ChangeReport: Codable, Sendable {
  package let preset: String
  package let input: String
  package let dataSource: String
  package let polarPattern: PolarPattern
  package let inputOrientation: InputOrientation
  package let layout: StereoLayout?
  package let inputChannels: Int
  package let gainDB: Double
  package let muted: Bool
  /// Why what was asked for is kept and not in force; the rest says what is.
  package let kept: String?

  init(_ setting: Setting, kept: String? = nil) {
    self.kept = kept
    input = setting.device.uid
    preset = setting.preset
    dataSource = setting.selection.dataSource
    polarPattern = setting.selection.polarPattern
    inputOrientation = setting.selection.inputOrientation
    layout = setting.layout
    inputChannels = setting.selection.polarPattern.channels
    gainDB = setting.gain.value
    muted = setting.muted
  }
}

package struct TakeAnswer: Codable, Sendable {
  package let take: String
  package let channels: Int
  /// The microphones' file.
  package var microphones: String?
  /// Not known at the start.
  package var sidecar: String?
  package var frames: Int?
  package var seconds: Double?
  package var clippedSamples: Int?
  package var silencedSamples: Int?
  /// The server stood still so many times.
  package var pauses: Int?
  /// What is otherwise than asked for.
  package var notes: [String]?
  /// The take is silent because the outputs are muted.
  package var muted: Bool?
  /// How long the disk has room for.
  package var secondsLeft: Int?

  /// At its start.
  init(_ take: any TakeRecording, muted: Bool) {
    self.take = take.path ?? ""
    channels = take.plan.outputs
    self.muted = muted
    secondsLeft = take.secondsLeft
    notes = take.plan.shortRing.map { [$0] }
  }

  /// At its end.
  init(_ result: TakeWriter.Result) {
    let document = result.sidecar
    take = result.path
    channels = document.channels
    let folder = String(result.path[...(result.path.lastIndex(of: "/") ?? result.path.startIndex)])
    microphones = document.files.first?.microphones.map { folder + $0 }
    sidecar = result.path[..<(result.path.lastIndex(of: ".") ?? result.path.endIndex)] + ".json"
    notes = document.notes
    frames = document.frames
    seconds = Double(document.frames) / Double(document.sampleRate)
    clippedSamples = document.clippedSamples
    silencedSamples = document.silencedSamples
    pauses = document.pauses.count
  }
}
