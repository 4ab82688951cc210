/// Something that somebody asked of the processor. It is answered exactly once.
///
/// Thread: control.
package final class Request {
  private let onAnswer: (Outcome) -> Void
  private let onProgress: (String, Double) -> Void
  private let askerIsThere: () -> Bool
  /// How often it was answered: one in the end.
  package private(set) var answers = 0

  /// - Parameters:
  ///   - onProgress: hears what a request is waiting for, and what part of that is done.
  ///   - isThere: whether whoever asked still waits.
  package init(
    onProgress: @escaping (String, Double) -> Void = { _, _ in }, isThere: @escaping () -> Bool = { true },
    onAnswer: @escaping (Outcome) -> Void
  ) {
    self.onAnswer = onAnswer
    self.onProgress = onProgress
    askerIsThere = isThere
  }

  package var isAnswered: Bool { answers > 0 }
  package var isAskerThere: Bool { askerIsThere() }

  package func answer(_ outcome: Outcome) {
    answers += 1
    assert(answers == 1, "a request is answered once")
    if answers == 1 { onAnswer(outcome) }
  }

  package func fail(_ status: ExitStatus, _ sentence: String) { answer(.failed(Failure(status, sentence))) }

  package func tell(_ text: String, part: Double) { if !isAnswered { onProgress(text, part) } }
}

/// How a request ended.
package enum Outcome {
  case done(any Encodable & Sendable)
  case failed(Failure)

  package var status: ExitStatus { if case .failed(let failure) = self { failure.status } else { .done } }
}
