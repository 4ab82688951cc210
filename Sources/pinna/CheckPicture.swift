import Control
import Foundation
import GuidedCheck
import Plots

/// The results of a check as a picture: one panel per case, with the position of each voice between left and right.
struct CheckPicture {
  private static let colours: [VoiceDirection: PlotColour] = [
    .left: .blue, .right: .orange, .front: .green, .behind: .purple,
  ]

  private let plot: StripPlot

  init(_ results: CheckResults, of name: String) {
    plot = StripPlot(
      PlotTitle(
        "Where each voice came out of \(name)",
        "The listener's left is on the left. Crossed-out voices did not come out as a listener expects."),
      panels: results.cases.map(Self.panel))
  }

  private static func panel(_ one: CheckResults.Case) -> StripPlot.Panel {
    func strip(
      _ axis: PlotAxis, isMirrored: Bool = false, _ value: (CheckResults.Voice) -> Double
    ) -> StripPlot.Strip {
      StripPlot.Strip(
        axis, isMirrored: isMirrored,
        points: one.voices.map {
          StripPlot.Point(
            "voice " + $0.direction.phrase, colours[$0.direction]!, value($0), isWrong: $0.fault != nil)
        })
    }
    let loudness = strip(.linear("louder than the voice in front, dB", -24...6, step: 6)) { $0.overFront }
    guard one.checked.isStereo else { return StripPlot.Panel(one.checked.name, strips: [loudness]) }
    return StripPlot.Panel(
      one.checked.name,
      strips: [
        strip(.linear("left louder than right, dB", -15...15, step: 5), isMirrored: true) {
          $0.levelDifference
        },
        strip(.linear("left earlier than right, µs", -1000...1000, step: 250), isMirrored: true) {
          1e6 * $0.timeDifference
        },
        loudness,
      ])
  }

  func write(_ path: String) throws { try plot.write(path) }
}

/// Checks the name of a picture to write before anything is computed.
enum PictureFile {
  static func check(_ path: String) throws(Failure) {
    guard (try? PlotFormat(word: URL(filePath: path).pathExtension)) != nil else {
      throw Failure(
        .usage, "\(path) is not a supported picture format; give a name that ends in .png or .svg")
    }
    let folder = URL(filePath: path).deletingLastPathComponent().path
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
      throw Failure(.failed, "there is no folder \(folder) for the picture; create it, or give another")
    }
  }
}
