/// Decides which requests are served (promise R24).
///
/// The page listens on 127.0.0.1 only, but any web page in a browser on this machine, and any other user, can send
/// requests there. The Host header stops DNS rebinding, Origin and Sec-Fetch-Site stop requests of foreign pages, and the
/// cookie stops other users.
///
/// A value; any thread.
package struct PageGuard: Sendable {
  package enum Verdict: Hashable, Sendable {
    case serve
    /// The first visit with the token: set the cookie, and redirect to "/".
    case welcome
    /// - Parameters:
    ///   - status: of HTTP.
    ///   - reason: one sentence.
    case refuse(status: Int, reason: String)
  }

  package let port: UInt16
  private let secret: Secret
  private let hosts: [String]

  package init(port: UInt16, secret: Secret) {
    self.port = port
    self.secret = secret
    hosts = ["127.0.0.1:\(port)", "localhost:\(port)", "[::1]:\(port)"]
  }

  /// Browsers send a cookie to every port of a host, so that its name contains the port.
  package var cookieName: String { "pinna-\(port)" }

  package var setCookie: String {
    "\(cookieName)=\(secret.text); Path=/; HttpOnly; SameSite=Strict"
  }

  package func verdict(on head: RequestHead) -> Verdict {
    guard let host = head.header("host"), hosts.contains(host) else {
      return forbidden("the Host header is not that of this page")
    }
    if head.has("origin"), head.header("origin") != "http://\(host)" {
      return forbidden("the request comes from another origin")
    }
    // "same-site" includes other ports of this machine; "none" is an address that a person typed.
    if head.has("sec-fetch-site"), !["same-origin", "none"].contains(head.header("sec-fetch-site")) {
      return forbidden("the request comes from another site")
    }
    if head.method == "GET", head.path == "/", let token = head.token {
      return secret.matches(token) ? .welcome : forbidden("the token is wrong")
    }
    guard let cookie = head.cookie(cookieName), secret.matches(cookie) else {
      return forbidden("open the address that Pinna printed when it started; it contains a token")
    }
    switch head.method {
    case "GET": return .serve
    case "POST":
      // A form cannot send this type, and a foreign page must ask first.
      let type = head.header("content-type")?.split(separator: ";").first?.lowercased()
      guard type == "application/json" else {
        return .refuse(status: 415, reason: "the body is not application/json")
      }
      return .serve
    default: return .refuse(status: 405, reason: "only GET and POST are allowed")
    }
  }

  private func forbidden(_ reason: String) -> Verdict { .refuse(status: 403, reason: reason) }

  /// Headers of every answer.
  package static let headers: [(String, String)] = [
    (
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; "
        + "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-store"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
  ]
}
