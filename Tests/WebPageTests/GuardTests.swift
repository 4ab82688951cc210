import Testing
import WebPage

/// Promise R24 without a server.
@Suite("The guard of the web page") struct GuardTests {
  let secret = Secret()
  var pageGuard: PageGuard { PageGuard(port: 8080, secret: secret) }

  func verdict(
    _ method: String = "GET", _ path: String = "/", token: String? = nil, _ changes: [String: String?] = [:]
  ) -> PageGuard.Verdict {
    var headers = [
      "host": "127.0.0.1:8080", "cookie": "pinna-8080=\(secret.text)", "content-type": "application/json",
    ]
    for (name, value) in changes { headers[name] = value }
    return pageGuard.verdict(
      on: RequestHead(method: method, path: path, token: token, headers: headers.mapValues { [$0] }))
  }

  func status(_ verdict: PageGuard.Verdict) -> Int? {
    if case .refuse(let status, _) = verdict { status } else { nil }
  }

  @Test("a request of the page itself, by any of its three names, is served")
  func own() {
    for host in ["127.0.0.1:8080", "localhost:8080", "[::1]:8080"] {
      #expect(verdict("GET", "/page.js", ["host": host]) == .serve)
      #expect(
        verdict(
          "POST", "/control", ["host": host, "origin": "http://" + host, "sec-fetch-site": "same-origin"])
          == .serve)
    }
    #expect(verdict(token: nil, ["sec-fetch-site": "none"]) == .serve)
  }

  @Test(
    "another Host is refused",
    arguments: [
      "127.attacker.example:8080", "127.0.0.1.attacker.example:8080", "127.0.0.1", "127.0.0.1:8081",
      "localhost", "attacker.example", "127.0.0.1:8080@attacker.example", "0.0.0.0:8080", "127.1:8080",
      "LOCALHOST.:8080", "[::ffff:127.0.0.1]:8080", "",
    ])
  func hosts(host: String) {
    #expect(status(verdict("GET", "/", ["host": host])) == 403)
    // A rebound name is its own origin.
    #expect(status(verdict("POST", "/control", ["host": host, "origin": "http://" + host])) == 403)
  }

  @Test("a missing Host, and two, are refused")
  func hostCount() {
    #expect(status(verdict("GET", "/", ["host": nil as String?])) == 403)
    let two = RequestHead(
      method: "GET", path: "/",
      headers: ["host": ["127.0.0.1:8080", "127.0.0.1:8080"], "cookie": ["pinna-8080=\(secret.text)"]])
    #expect(status(pageGuard.verdict(on: two)) == 403)
  }

  @Test(
    "another Origin is refused, whatever the method",
    arguments: [
      "http://attacker.example", "null", "https://127.0.0.1:8080", "http://127.0.0.1:8081",
      "http://127.0.0.1",
      "http://localhost:8080", "http://127.0.0.1:8080.attacker.example", "",
    ])
  func origins(origin: String) {
    for method in ["GET", "POST"] {
      #expect(status(verdict(method, "/control", ["origin": origin])) == 403)
    }
  }

  @Test(
    "another site is refused, also another port of this machine", arguments: ["cross-site", "same-site", "x"])
  func sites(site: String) {
    #expect(status(verdict("GET", "/", ["sec-fetch-site": site])) == 403)
    #expect(status(verdict(token: secret.text, ["sec-fetch-site": site])) == 403)
  }

  @Test("without the cookie everything is refused but the first visit with the token")
  func cookies() {
    for cookie in [
      nil, "", "pinna-8080=", "pinna-8080=\(Secret().text)", "pinna-8081=\(secret.text)",
      "pinna-8080=\(secret.text.dropLast())", "pinna-8080=\(secret.text)0",
      "pinna-8080=\(secret.text); pinna-8080=\(secret.text)", "x=pinna-8080=\(secret.text)",
    ] {
      for path in ["/", "/page.css", "/events", "/takes/a.wav", "/nothing"] {
        #expect(status(verdict("GET", path, ["cookie": cookie])) == 403, "\(cookie ?? "none")")
      }
      #expect(status(verdict("POST", "/control", ["cookie": cookie])) == 403)
      #expect(verdict(token: secret.text, ["cookie": cookie]) == .welcome)
    }
    #expect(verdict("GET", "/", ["cookie": "a=b; pinna-8080=\(secret.text); c"]) == .serve)
  }

  @Test("a wrong token is refused, also beside the cookie; a token elsewhere counts for nothing")
  func tokens() {
    #expect(status(verdict(token: Secret().text)) == 403)
    #expect(status(verdict(token: "")) == 403)
    #expect(status(verdict("GET", "/events", token: secret.text, ["cookie": nil as String?])) == 403)
    #expect(status(verdict("POST", "/", token: secret.text, ["cookie": nil as String?])) == 403)
  }

  @Test("only GET and POST are allowed, and POST with JSON only")
  func methods() {
    for method in ["HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "get"] {
      #expect(status(verdict(method)) == 405)
    }
    for type in [
      nil, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonx",
    ] {
      #expect(status(verdict("POST", "/control", ["content-type": type])) == 415)
    }
    #expect(verdict("POST", "/control", ["content-type": "Application/JSON; charset=utf-8"]) == .serve)
  }

  @Test("tokens have 160 bits, and no two are equal")
  func secrets() {
    let texts = (0..<1000).map { _ in Secret().text }
    #expect(Set(texts).count == 1000)
    #expect(texts.allSatisfy { $0.count == 40 && $0.allSatisfy(\.isHexDigit) })
    #expect(!Secret("").matches(""))
  }

  @Test("the cookie is HttpOnly, SameSite=Strict, of the whole page, and named after the port")
  func setCookie() {
    #expect(pageGuard.setCookie == "pinna-8080=\(secret.text); Path=/; HttpOnly; SameSite=Strict")
  }
}
