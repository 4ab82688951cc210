import FoundationEssentials
import Messages
import Settings

/// What is sent back for a request. A value; any thread.
struct PageResponse: Sendable {
  enum Body: Sendable {
    case bytes([UInt8])
    /// A part of an open file, which is closed after sending.
    case file(descriptor: Int32, offset: Int, count: Int)
  }

  let status: Int
  let type: String
  let body: Body
  let headers: [(String, String)]

  init(_ status: Int, type: String, body: Body, headers: [(String, String)] = []) {
    self.status = status
    self.type = type
    self.body = body
    self.headers = headers
  }

  static func bytes(_ bytes: [UInt8], type: String) -> PageResponse {
    PageResponse(200, type: type, body: .bytes(bytes))
  }

  static func document(_ text: String) -> PageResponse {
    .bytes(Array(text.utf8), type: "application/json; charset=utf-8")
  }

  /// - Parameter reason: one sentence.
  static func refusal(_ status: Int, _ reason: String, headers: [(String, String)] = []) -> PageResponse {
    PageResponse(
      status, type: "text/plain; charset=utf-8", body: .bytes(Array((reason + "\n").utf8)), headers: headers)
  }

  private struct Outcome: Encodable {
    let status: Int32
    let reason: String
  }

  /// The answer to a control request: Pinna's own document, or its exit status and sentence.
  init(_ answer: Answer) {
    let text =
      answer.status == .done
      ? answer.text : json(Outcome(status: answer.status.rawValue, reason: answer.text))
    let status =
      switch answer.status {
      case .done: 200
      case .usage: 400
      case .refused, .incompleteTake: 409
      case .unsupported: 422
      case .noServer, .notRunning: 503
      // The page shows what the newer change asked for.
      case .failed: answer.text == Failure.superseded ? 200 : 500
      }
    self.init(status, type: "application/json; charset=utf-8", body: .bytes(Array(text.utf8)))
  }

  init(_ failure: Failure) { self.init(Answer(failure.status, failure.description)) }
}
