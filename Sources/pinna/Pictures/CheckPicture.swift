import Acoustics
import AudioFiles
import FoundationEssentials
import Glibc
import GuidedCheck
import Messages
import Plots
import Settings
import Text

/// The results of a check as a picture: per case the listener from above, where each voice should be and where it came
/// out, and how the device is held. `demo`, `check` and the page of `report` have it.
struct CheckPicture {
  let panels: [TopViewPlot.Panel]
  /// What each panel shows, in words.
  let descriptions: [String]
  private let title: PlotTitle

  /// - Parameter fixed: the same without adaptation, drawn beside its stereo cases; nil if `results` is that.
  init(_ results: CheckResults, beside fixed: CheckResults? = nil, device: Device, name: String) {
    let stereo = zip(fixed?.cases ?? [], results.cases).filter { $1.checked.isStereo }
    let others = results.cases.filter { fixed == nil || !$0.checked.isStereo }
    panels =
      stereo.flatMap { [Self.panel($0, device, ", fixed"), Self.panel($1, device, ", adapting")] }
      + others.map { Self.panel($0, device) }
    descriptions =
      stereo.flatMap { ["fixed: " + Self.description($0), "adapting: " + Self.description($1)] }
      + others.map(Self.description)
    title = PlotTitle(
      "Where each voice came out of \(name)",
      "The listener from above, nose forward, and the device as the listener has it. A ring is where a voice should "
        + "be, a filled mark where it came out; louder ones are larger.")
  }

  private static func panel(_ one: CheckResults.Case, _ device: Device, _ note: String = "")
    -> TopViewPlot.Panel
  {
    TopViewPlot.Panel(
      one.checked.name + note, HeldDevice(device, in: one.checked.head),
      one.checked.isStereo ? .circle : .level,
      voices: one.voices.map { TopViewPlot.Voice($0, isStereo: one.checked.isStereo) })
  }

  private static func description(_ one: CheckResults.Case) -> String {
    let voices = one.voices.map {
      "the voice \($0.direction.phrase) is \($0.fault != nil ? "wrong" : $0.weakness != nil ? "weak" : "right")"
    }
    return "\(one.checked.name): " + voices.joined(separator: ", ")
  }

  var plot: TopViewPlot { TopViewPlot(title, panels: panels) }

  func write(_ file: OutputFile) throws { try plot.write(file) }
}

extension TopViewPlot.Voice {
  fileprivate init(_ voice: CheckResults.Voice, isStereo: Bool) {
    let azimuth = voice.direction.azimuth.degrees
    // Both ears tell only how far to the side a voice is: it is drawn in front or behind, as it spoke.
    let heard = abs(azimuth) > 90 ? 180 - voice.heard.degrees : voice.heard.degrees
    let verdict: Verdict =
      voice.fault != nil ? .wrong : voice.weakness != nil ? .weak : .right
    self.init(
      azimuth: azimuth, heard: isStereo ? heard : azimuth, level: voice.overFront,
      highestLevel: voice.expectation.highestOverFront, verdict: verdict)
  }
}

extension OutputFile {
  /// A picture, whose name is checked before anything is computed.
  init(picture path: String, replacing: Bool) throws {
    guard (try? PlotFormat(word: URL(filePath: path).pathExtension)) != nil else {
      throw Failure(
        .usage, "\(path) is not a supported picture format; give a name that ends in .png or .svg")
    }
    let folder = URL(filePath: path).deletingLastPathComponent().path
    var isFolder = false
    guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder else {
      throw Failure(.failed, "there is no folder \(folder) for the picture; create it, or give another")
    }
    try self.init(path, replacing: replacing)
  }
}
