import CMicrohttpd
import Glibc
import Messages
import Settings
import Threads

/// The HTTP server of the page, on 127.0.0.1 only.
///
/// Thread: libmicrohttpd's, which calls `begin`, `receive` and `end` one after another and never waits. Work that waits is a job.
final class WebServer: @unchecked Sendable {
  // Unchecked: what changes is used by the server's thread alone, or locked.
  static let mostConnections: UInt32 = 128
  /// In seconds: of connections on which nothing happens, a stalled page's included.
  static let timeout: UInt32 = 20

  let port: UInt16
  private let pageGuard: PageGuard
  private let routes: PageRoutes
  private let events: PageEvents
  private let reads = Jobs()
  /// Have places of their own, so that reads that are slow never keep a control waiting.
  private let controls = Jobs()
  /// Of all connections together. What is refused counts apart, so that strangers cannot use up the owner's.
  private var served = RateLimit(perSecond: 100, burst: 200)
  private var refused = RateLimit(perSecond: 100, burst: 200)

  /// The limit of one connection.
  private final class Client {
    var limit = RateLimit(perSecond: 60, burst: 120)
  }

  /// - Parameter port: 0 for any free one.
  /// - Throws: if the port cannot be had, or the system does not tell whose a connection is.
  init(port wanted: UInt16, secret: Secret, routes: PageRoutes, events: PageEvents) throws(Failure) {
    guard PeerUser.isKnown else {
      throw Failure(
        .failed,
        "/proc/net/tcp cannot be read, so that the web page could not tell other users from you; leave out --web"
      )
    }
    let (listener, port) = try Self.listen(wanted)
    self.port = port
    self.routes = routes
    self.events = events
    pageGuard = PageGuard(port: port, secret: secret)
    // For as long as the process lives, as the server.
    let context = Unmanaged.passRetained(self).toOpaque()
    let daemon = pinna_start_web_server(
      listener,
      { context, peer, _ in
        let server = Unmanaged<WebServer>.fromOpaque(context!).takeUnretainedValue()
        return PeerUser.isOurs(peer!, to: server.port) ? .YES : .NO
      },
      { context, connection, url, method, _, data, size, state in
        Unmanaged<WebServer>.fromOpaque(context!).takeUnretainedValue().receive(
          connection!, url!, method!, UnsafeRawBufferPointer(start: data, count: size!.pointee), size!, state!
        )
      },
      { context, _, state, _ in
        guard let pointer = state?.pointee else { return }
        state!.pointee = nil
        let exchange = Unmanaged<Exchange>.fromOpaque(pointer).takeRetainedValue()
        Unmanaged<WebServer>.fromOpaque(context!).takeUnretainedValue().end(exchange)
      },
      { _, _, state, event in
        if event == .CONNECTION_NOTIFY_STARTED {
          state!.pointee = Unmanaged.passRetained(Client()).toOpaque()
        } else if let pointer = state!.pointee {
          state!.pointee = nil
          Unmanaged<Client>.fromOpaque(pointer).release()
        }
      }, context, Self.mostConnections, Self.timeout)
    guard daemon != nil else {
      close(listener)
      throw Failure(.failed, "the web page's server cannot be started: \(String(cString: strerror(errno)))")
    }
  }

  private static func listen(_ wanted: UInt16) throws(Failure) -> (socket: Int32, port: UInt16) {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = wanted.bigEndian
    address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    var yes: Int32 = 1
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    let status = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        let bound = bind(listener, pointer, length) == 0 && Glibc.listen(listener, 64) == 0
        return bound && getsockname(listener, pointer, &length) == 0
      }
    }
    guard listener >= 0, status else {
      let reason = String(cString: strerror(errno))
      if listener >= 0 { close(listener) }
      throw Failure(
        .failed,
        "cannot serve the web page on 127.0.0.1:\(wanted): \(reason); choose another port with --web, or 0 for any free one"
      )
    }
    return (listener, UInt16(bigEndian: address.sin_port))
  }

  /// Called for each request: once with its head, then with each part of its body, at last without any.
  private func receive(
    _ connection: OpaquePointer, _ url: UnsafePointer<CChar>, _ method: UnsafePointer<CChar>,
    _ data: UnsafeRawBufferPointer, _ size: UnsafeMutablePointer<Int>,
    _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>
  ) -> MHD_Result {
    guard let pointer = state.pointee else {
      let head = RequestHead(connection, method: String(cString: method), path: String(cString: url))
      state.pointee = Unmanaged.passRetained(Exchange(head)).toOpaque()
      return begin(head, connection)
    }
    let exchange = Unmanaged<Exchange>.fromOpaque(pointer).takeUnretainedValue()
    if !data.isEmpty {
      size.pointee = 0
      return exchange.append(data) ? .YES : .NO
    }
    if let response = exchange.response {
      // libmicrohttpd closes the file from here on.
      exchange.response = nil
      return send(response, connection)
    }
    guard !exchange.isTooLong else { return send(tooLong, connection) }
    return answer(exchange, connection)
  }

  /// Refuses a request by its head alone, so that its body is never read.
  private func begin(_ head: RequestHead, _ connection: OpaquePointer) -> MHD_Result {
    let client = pinna_connection_state(connection).map {
      Unmanaged<Client>.fromOpaque($0).takeUnretainedValue()
    }
    let verdict = pageGuard.verdict(on: head)
    let isWithinLimit = verdict == .serve ? served.allows() : refused.allows()
    guard client?.limit.allows() ?? true, isWithinLimit else {
      return send(.refusal(429, "too many requests", headers: [("Retry-After", "1")]), connection)
    }
    switch verdict {
    case .refuse(let status, let reason): return send(.refusal(status, reason), connection)
    case .welcome:
      return send(
        PageResponse(
          303, type: "text/plain", body: .bytes([]),
          headers: [("Location", "/"), ("Set-Cookie", pageGuard.setCookie)]), connection)
    case .serve: break
    }
    if let length = head.header("content-length").flatMap({ Int($0) }), length > PageRequest.longestBody {
      return send(tooLong, connection)
    }
    return .YES
  }

  private var tooLong: PageResponse {
    .refusal(413, "the body is longer than \(PageRequest.longestBody) bytes")
  }

  private func answer(_ exchange: Exchange, _ connection: OpaquePointer) -> MHD_Result {
    switch routes.route(exchange.head, body: exchange.body) {
    case .now(let response): return send(response, connection)
    case .events: return sendEvents(exchange, connection)
    case .later(let work):
      nonisolated(unsafe) let connection = connection
      MHD_suspend_connection(connection)
      let hasStarted = (exchange.head.method == "POST" ? controls : reads).start {
        exchange.response = work()
        MHD_resume_connection(connection)
      }
      if !hasStarted {
        exchange.response = .refusal(503, "too many requests are being served; try again")
        MHD_resume_connection(connection)
      }
      return .YES
    }
  }

  private func end(_ exchange: Exchange) {
    if let stream = exchange.stream { events.close(stream) }
    // Never sent, because the connection ended before.
    if case .file(let descriptor, _, _)? = exchange.response?.body { close(descriptor) }
  }

  private func send(_ response: PageResponse, _ connection: OpaquePointer) -> MHD_Result {
    let body: OpaquePointer? =
      switch response.body {
      case .bytes(var bytes):
        MHD_create_response_from_buffer(bytes.count, &bytes, .RESPMEM_MUST_COPY)
      case .file(let descriptor, let offset, let count):
        Self.fileResponse(FileSource(descriptor, offset: offset), count)
      }
    guard let body else { return .NO }
    return queue(body, response.status, [("Content-Type", response.type)] + response.headers, connection)
  }

  /// A part of a file, for a callback of C. Closes the file at its end.
  private final class FileSource {
    let descriptor: Int32
    let offset: Int

    init(_ descriptor: Int32, offset: Int) { (self.descriptor, self.offset) = (descriptor, offset) }
    deinit { close(descriptor) }
  }

  /// A file that has become shorter meanwhile ends the connection: libmicrohttpd's own response for files would try to read
  /// on without end.
  private static func fileResponse(_ source: FileSource, _ count: Int) -> OpaquePointer? {
    let context = Unmanaged.passRetained(source)
    let response = MHD_create_response_from_callback(
      UInt64(count), 65_536,
      { source, position, buffer, size in
        let source = Unmanaged<FileSource>.fromOpaque(source!).takeUnretainedValue()
        let bytes = pread(source.descriptor, buffer, size, off_t(source.offset + Int(position)))
        // MHD_CONTENT_READER_END_WITH_ERROR
        return bytes > 0 ? bytes : -2
      }, context.toOpaque(), { Unmanaged<FileSource>.fromOpaque($0!).release() })
    if response == nil { context.release() }
    return response
  }

  private func sendEvents(_ exchange: Exchange, _ connection: OpaquePointer) -> MHD_Result {
    guard let stream = events.open(connection) else {
      return send(
        .refusal(429, "\(PageEvents.mostStreams) pages are open already; close one"), connection)
    }
    exchange.stream = stream
    let source = EventSource(events, stream)
    let body = MHD_create_response_from_callback(
      UInt64.max, 32_768,
      { source, _, buffer, size in
        let source = Unmanaged<EventSource>.fromOpaque(source!).takeUnretainedValue()
        return source.events.read(
          source.stream, into: UnsafeMutableRawBufferPointer(start: buffer, count: size))
      }, Unmanaged.passRetained(source).toOpaque(),
      { Unmanaged<EventSource>.fromOpaque($0!).release() })
    guard let body else { return .NO }
    return queue(body, 200, [("Content-Type", "text/event-stream; charset=utf-8")], connection)
  }

  /// For a callback of C.
  private final class EventSource {
    let events: PageEvents
    let stream: EventStream

    init(_ events: PageEvents, _ stream: EventStream) {
      self.events = events
      self.stream = stream
    }
  }

  private func queue(
    _ body: OpaquePointer, _ status: Int, _ headers: [(String, String)], _ connection: OpaquePointer
  ) -> MHD_Result {
    for (name, value) in headers + PageGuard.headers { MHD_add_response_header(body, name, value) }
    defer { MHD_destroy_response(body) }
    return MHD_queue_response(connection, UInt32(status), body)
  }
}
