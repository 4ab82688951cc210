/// The answer to the opening of a session.
package struct SessionAnswer: Codable, Sendable {
  /// The token that the session's requests begin with.
  package let session: String

  package init(session: String) { self.session = session }
}
