/// A request without its body. A value; any thread.
package struct RequestHead: Sendable {
  package let method: String
  /// Decoded, without the query: "/takes/2026-11-24T101112-phone5-1.wav".
  package let path: String
  /// The `token` of the query; nil if it has none.
  package let token: String?
  /// All values of each header, by its name in lower case.
  package let headers: [String: [String]]

  package init(method: String, path: String, token: String? = nil, headers: [String: [String]]) {
    self.method = method
    self.path = path
    self.token = token
    self.headers = headers
  }

  /// The header's value; nil if it is missing or sent more than once.
  package func header(_ name: String) -> String? {
    headers[name].flatMap { $0.count == 1 ? $0[0] : nil }
  }

  func has(_ name: String) -> Bool { headers[name] != nil }

  /// The value of the cookie called `name`; nil if it is missing or sent more than once.
  package func cookie(_ name: String) -> String? {
    let values = (headers["cookie"] ?? []).flatMap { $0.split(separator: ";") }.compactMap { pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let key = parts[0].filter { $0 != " " && $0 != "\t" }
      return parts.count == 2 && key == name ? String(parts[1]) : nil
    }
    return values.count == 1 ? values[0] : nil
  }
}
