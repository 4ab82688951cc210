import Messages
import Settings

/// A request to the processor. Invariant: it is answered exactly once.
///
/// Thread: control thread.
package final class Request {
  private let onAnswer: (Outcome) -> Void
  private let onProgress: (String, Double) -> Void
  private let askerIsThere: () -> Bool
  /// Number of answers so far; 1 in the end.
  package private(set) var answers = 0

  /// - Parameters:
  ///   - onProgress: receives what the request is waiting for, and the completed fraction.
  ///   - isThere: whether the client that sent the request is still running.
  ///   - onAnswer: receives the answer.
  package init(
    onProgress: @escaping (String, Double) -> Void = { _, _ in }, isThere: @escaping () -> Bool = { true },
    onAnswer: @escaping (Outcome) -> Void
  ) {
    self.onAnswer = onAnswer
    self.onProgress = onProgress
    askerIsThere = isThere
  }

  package var isAnswered: Bool { answers > 0 }
  /// Whether the client that sent the request is still running.
  package var isAskerThere: Bool { askerIsThere() }

  package func answer(_ outcome: Outcome) {
    answers += 1
    assert(answers == 1, "a request is answered once")
    if answers == 1 { onAnswer(outcome) }
  }

  package func fail(_ status: ExitStatus, _ sentence: String) { fail(Failure(status, sentence)) }

  package func fail(_ failure: Failure) { answer(.failed(failure)) }

  /// Runs `body`, and answers with the error that it throws.
  package func attempt(_ body: () throws -> Void) {
    do { try body() } catch { fail(Failure(error)) }
  }

  package func reportProgress(_ text: String, part: Double) { if !isAnswered { onProgress(text, part) } }
}

/// The result of a request: a document to encode as JSON, or a failure.
package enum Outcome {
  case done(any Encodable & Sendable)
  case failed(Failure)

  package var status: ExitStatus { if case .failed(let failure) = self { failure.status } else { .done } }
}

extension Answer {
  package init(_ outcome: Outcome) {
    switch outcome {
    case .done(let document): self.init(.done, json(document))
    case .failed(let failure): self.init(failure)
    }
  }
}
