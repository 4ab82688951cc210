import FoundationEssentials
import Messages
import Recording
import Settings
import Text

/// Markers and the title of a take. They are no settings, so they may be set while it runs.
extension Processor {
  /// Marks the present place of the take.
  /// - Parameter label: empty for the marker's number.
  package func mark(_ label: String, _ request: Request) throws {
    let take = try runningTake()
    let text = try Self.line(label, "a marker's label")
    let number = take.markers + 1
    guard number <= Sidecar.listLimit else {
      throw Failure(.failed, "a take can have at most \(Sidecar.listLimit) markers")
    }
    let marker = take.mark(text.isEmpty ? "\(number)" : text)
    var answer = MarkerAnswer()
    answer.marker = number
    answer.label = marker.label
    answer.frame = marker.frame
    answer.seconds = Double(marker.frame) / Double(take.plan.sampleRate)
    request.answer(.done(answer))
  }

  /// - Parameter title: empty for none.
  package func setTitle(_ title: String, _ request: Request) throws {
    let take = try runningTake()
    take.title = try Self.line(title, "a title")
    request.answer(.done(TitleAnswer(title: take.title)))
  }

  private func runningTake() throws(Failure) -> any TakeRecording {
    switch state {
    // Status calls it recording from its request on.
    case .openingTake(let recording), .startingTake(let recording, _), .armed(let recording),
      .recording(let recording):
      return recording.take
    // Its disk thread may have written the last sidecar already.
    case .endingTake: throw Failure(.failed, "the take is ending already; nothing can be added to it")
    default: throw Failure(.failed, "nothing is being recorded; start with: pinna record start")
    }
  }

  private static func line(_ text: String, _ what: String) throws(Failure) -> String {
    do throws(TakeError) { return try Sidecar.line(text, what) } catch {
      throw Failure(.usage, error.description)
    }
  }
}
