import CSockets
import Foundation
import TestSupport

/// A small HTTP client for the web page, which sends exactly the headers that it is given, and can stall.
public final class WebVisitor {
  public struct Response {
    public let status: Int
    /// By name in lower case.
    public let headers: [String: String]
    public let body: String

    public func json() throws -> [String: Any] {
      try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any] ?? [:]
    }
  }

  /// The page's address as Pinna printed it.
  public let port: UInt16
  public let token: String
  private var socket: Int32 = -1
  private var received: [UInt8] = []

  /// - Throws: if the graph's Pinna was not started with `--web`.
  public init(_ graph: any PinnaGraph) throws {
    let text = graph.program.errorText
    guard let match = text.firstMatch(of: /http:\/\/127\.0\.0\.1:([0-9]+)\/\?token=([0-9a-f]+)/),
      let port = UInt16(match.output.1)
    else { throw SupportError("pinna printed no address of a web page: \(text)") }
    self.port = port
    token = String(match.output.2)
  }

  public init(port: UInt16, token: String) {
    self.port = port
    self.token = token
  }

  deinit { close() }

  public var another: WebVisitor { WebVisitor(port: port, token: token) }
  public var host: String { "127.0.0.1:\(port)" }
  public var cookie: String { "pinna-\(port)=\(token)" }

  public func close() {
    if socket >= 0 { Glibc.close(socket) }
    socket = -1
    received = []
  }

  /// - Returns: false if nobody listens there.
  public func connect(receiveBuffer: Int32? = nil) -> Bool {
    close()
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    if var size = receiveBuffer { setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, 4) }
    var patience = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
    let number = socket
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    if status != 0 { close() }
    return status == 0
  }

  /// Sends a request over the open connection, or over a new one. The headers of the page itself are Host and Cookie.
  /// - Parameter changes: headers to add or replace; an empty value removes one.
  public func send(
    _ method: String = "GET", _ path: String, _ changes: [String: String] = [:], body: String? = nil
  ) throws {
    if socket < 0, !connect() { throw SupportError("nobody listens on port \(port)") }
    var headers = ["Host": host, "Cookie": cookie]
    if let body {
      headers["Content-Type"] = "application/json"
      headers["Content-Length"] = "\(body.utf8.count)"
    }
    headers.merge(changes) { $1 }
    let lines = headers.filter { !$1.isEmpty }.map { "\($0): \($1)\r\n" }.joined()
    let bytes = Array("\(method) \(path) HTTP/1.1\r\n\(lines)\r\n\(body ?? "")".utf8)
    guard Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
      close()
      throw SupportError("the page has closed the connection")
    }
  }

  /// Sends a request and waits for its answer.
  public func ask(
    _ method: String = "GET", _ path: String, _ changes: [String: String] = [:], body: String? = nil
  ) throws -> Response {
    try send(method, path, changes, body: body)
    return try response()
  }

  /// Asks what the page's controls ask.
  public func control(_ method: String, _ arguments: String...) throws -> Response {
    let body = try JSONSerialization.data(withJSONObject: ["method": method, "arguments": arguments])
    return try ask("POST", "/control", body: String(decoding: body, as: UTF8.self))
  }

  /// Waits for the answer to a request that was sent.
  public func response() throws -> Response {
    let end = Array("\r\n\r\n".utf8)
    var head: Range<Int>?
    while true {
      head = received.firstRange(of: end)
      if head != nil { break }
      guard receive() else { throw SupportError("the page closed the connection without an answer") }
    }
    let lines = String(decoding: received[..<head!.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      if parts.count == 2 { headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces) }
    }
    received.removeFirst(head!.upperBound)
    let length = headers["content-length"].flatMap { Int($0) } ?? 0
    while received.count < length {
      guard receive() else { throw SupportError("the page closed the connection within an answer") }
    }
    let body = String(decoding: received.prefix(length), as: UTF8.self)
    received.removeFirst(length)
    if headers["connection"]?.lowercased() == "close" { close() }
    let status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return Response(status: status, headers: headers, body: body)
  }

  private func receive() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(socket, &buffer, buffer.count, 0)
    guard count > 0 else { return false }
    received += buffer[..<count]
    return true
  }

  /// Waits until something can be read.
  public func hasAnswer(seconds: Double) -> Bool {
    var waiting = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    return poll(&waiting, 1, Int32(1000 * seconds)) > 0
  }

  /// After a request for `/events`: reads until the stream contains `text`.
  /// - Returns: false if it does not within `seconds`.
  public func hears(_ text: String, seconds: Double) -> Bool {
    let end = ContinuousClock.now + .seconds(seconds)
    let wanted = Array(text.utf8)
    while .now < end {
      if let found = received.firstRange(of: wanted) {
        received.removeFirst(found.upperBound)
        return true
      }
      // What cannot be the beginning of it.
      received.removeFirst(max(0, received.count - wanted.count))
      var waiting = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
      if poll(&waiting, 1, 10) > 0, !receive() { return false }
    }
    return false
  }
}

extension PinnaGraph {
  /// The process that serves the page.
  public func webProcess() throws -> (pid: Int32, words: [Substring])? {
    let pids = try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap(Int32.init)
    for pid in pids {
      guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
        let command = try? String(contentsOfFile: "/proc/\(pid)/cmdline", encoding: .utf8)
      else { continue }
      let fields = stat[stat.index(after: stat.lastIndex(of: ")")!)...].split(separator: " ")
      let words = command.split(separator: "\0")
      if fields.count > 1, Int32(fields[1]) == program.pid, words.contains("--serve-web-page") {
        return (pid, words)
      }
    }
    return nil
  }
}
