import CMicrohttpd

/// One request on its way through the server.
///
/// Thread: the server's; while the connection is suspended, the job's, which sets `response` and resumes it.
final class Exchange: @unchecked Sendable {
  let head: RequestHead
  var body: [UInt8] = []
  var isTooLong = false
  /// Nil until a job has found it.
  var response: PageResponse?
  /// Nil for every other request than that for events.
  var stream: EventStream?

  init(_ head: RequestHead) { self.head = head }

  /// - Returns: false if the body is far too long, so that the connection must be closed.
  func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard body.count + bytes.count <= PageRequest.longestBody else {
      let isFlood = isTooLong
      isTooLong = true
      body = []
      return !isFlood
    }
    if !isTooLong { body += bytes }
    return true
  }
}

extension RequestHead {
  /// For a callback of C.
  private final class Headers {
    var values: [String: [String]] = [:]
  }

  init(_ connection: OpaquePointer, method: String, path: String) {
    let headers = Headers()
    MHD_get_connection_values(
      connection, .HEADER_KIND,
      { headers, _, name, value in
        let headers = Unmanaged<Headers>.fromOpaque(headers!).takeUnretainedValue()
        if let name {
          let text = value.map { String(cString: $0) } ?? ""
          headers.values[String(cString: name).lowercased(), default: []].append(text)
        }
        return MHD_Result.YES
      }, Unmanaged.passUnretained(headers).toOpaque())
    let token = MHD_lookup_connection_value(connection, .GET_ARGUMENT_KIND, "token")
    self.init(
      method: method, path: path, token: token.map { String(cString: $0) }, headers: headers.values)
  }
}
