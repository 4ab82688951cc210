import Control
import Foundation
import LiveSupport
import Messages
import Settings
import TestSupport
import Testing

@Suite("The control socket's files, when others remove them") struct NamedSocketTests {
  let home: PinnaHome
  var folder: String { home.runtimeFolder + "/pinna" }
  var path: String { folder + "/pinna.sock" }

  init() throws { home = try PinnaHome() }

  func open() throws -> ControlSocket { try ControlSocket(name: "pinna", environment: home.environment) }

  /// Whether a request sent to the path now arrives at `socket`.
  func reaches(_ socket: ControlSocket) throws -> Bool {
    guard let sender = try? ControlSender(runtimeFolder: home.runtimeFolder), sender.send("/pinna/status")
    else { return false }
    return socket.receive(milliseconds: 1000)?.message?.path == "/pinna/status"
  }

  /// Serves `socket` until it must have noticed a removed file.
  func serve(_ socket: ControlSocket, seconds: Double = 2.5) {
    _ = waitUntil(seconds: seconds) {
      _ = socket.receive(milliseconds: 20)
      return false
    }
  }

  @Test(
    "R21: without its lock file, a second server of the name is refused and the first stays reachable"
  )
  func removedLock() throws {
    let first = try open()
    unlink(path + ".lock")
    let refusal = #expect(throws: Failure.self) { try open() }
    #expect(refusal?.description.contains("running already") == true)
    #expect(try reaches(first))
    // The lock is acquired again and keeps others out even while there is no socket.
    serve(first)
    unlink(path)
    #expect(throws: Failure.self) { try open() }
  }

  @Test(
    "R21: removed files are restored within two seconds, and requests arrive", .long,
    arguments: ["/pinna.sock", "/pinna.sock.lock", ""])
  func restored(name: String) throws {
    let socket = try open()
    try FileManager.default.removeItem(atPath: folder + name)
    serve(socket)
    #expect(try reaches(socket))
    #expect(access(path + ".lock", F_OK) == 0)
    #expect(throws: Failure.self) { try open() }
    var file = stat()
    #expect(stat(path, &file) == 0 && file.st_mode & 0o777 == 0o600)
  }

  @Test("R21: a socket that was renamed or replaced by a file is restored")
  func replaced() throws {
    let socket = try open()
    #expect(rename(path, path + ".old") == 0)
    try Data().write(to: URL(filePath: path))
    serve(socket)
    #expect(try reaches(socket))
  }

  @Test(
    "R21: an empty folder at the socket's path is replaced; one with files is named, by commands too, until it is gone",
    .long
  )
  func folderAtPath() throws {
    let socket = try open()
    for hasFile in [false, true] {
      unlink(path)
      #expect(mkdir(path, 0o700) == 0)
      if hasFile { try Data().write(to: URL(filePath: path + "/file")) }
      serve(socket)
      #expect((socket.obstacle == nil) == !hasFile)
      guard hasFile else {
        #expect(try reaches(socket))
        continue
      }
      let sentence = "\(path), the path of the control socket, is a folder or another file; move it away"
      #expect(socket.obstacle?.description == sentence)
      let asked = #expect(throws: Failure.self) {
        try ControlClient(name: "pinna", environment: home.environment).request(
          OSCMessage("/pinna/status"), seconds: 1)
      }
      #expect(asked?.status == .notRunning && asked?.description.contains(sentence) == true)
    }
    try FileManager.default.removeItem(atPath: path)
    serve(socket)
    #expect(try reaches(socket) && socket.obstacle == nil)
  }

  @Test("R21: a server does not start where a folder with files has the socket's path, and says so")
  func startWithFolder() throws {
    try RuntimeFolder.prepare(environment: home.environment)
    try FileManager.default.createDirectory(atPath: path + "/folder", withIntermediateDirectories: true)
    let refusal = #expect(throws: Failure.self) { try open() }
    #expect(refusal?.description.contains("is a folder or another file; move it away") == true)
    #expect(access(path + "/folder", F_OK) == 0)
  }

  @Test("R21: a server that ends leaves alone a successor's socket, which took the name with the folder")
  func successor() throws {
    var first: ControlSocket? = try open()
    try FileManager.default.removeItem(atPath: folder)
    let second = try open()
    #expect(try reaches(second))
    // While running it does not remove it either.
    serve(try #require(first))
    #expect(try reaches(second))
    first?.leave(OSCMessage("/pinna/reply"))
    #expect(try reaches(second))
    first = nil
    #expect(try reaches(second))
  }

  @Test("connections survive the removal of the socket's file")
  func keptConnections() throws {
    let socket = try open()
    let sender = try ControlSender(runtimeFolder: home.runtimeFolder)
    try FileManager.default.removeItem(atPath: folder)
    serve(socket)
    sender.send("/pinna/status")
    #expect(socket.receive(milliseconds: 1000)?.message?.path == "/pinna/status")
  }

  @Test("R21: a server takes its name back when the other ends")
  func takenBack() throws {
    let first = try open()
    try FileManager.default.removeItem(atPath: folder)
    var second: ControlSocket? = try open()
    #expect(try reaches(try #require(second)))
    second = nil
    serve(first)
    #expect(try reaches(first))
  }

  @Test("a server that has left restores nothing, and its successor has the name at once")
  func left() throws {
    let first = try open()
    first.leave(OSCMessage("/pinna/reply"))
    serve(first)
    #expect(access(path, F_OK) != 0)
  }

  @Test("R21: a relative runtime folder is refused by a server and by a client")
  func relativeFolder() throws {
    let environment = home.environment.merging(["XDG_RUNTIME_DIR": "runtime"]) { $1 }
    let refusal = #expect(throws: Failure.self) {
      try ControlSocket(name: "pinna", environment: environment)
    }
    #expect(refusal?.description.contains("XDG_RUNTIME_DIR") == true)
    let asked = #expect(throws: Failure.self) {
      try ControlClient(name: "pinna", environment: environment).request(
        OSCMessage("/pinna/status"), seconds: 1)
    }
    #expect(asked?.status == .failed && asked?.description.contains("XDG_RUNTIME_DIR") == true)
    try? FileManager.default.removeItem(atPath: "runtime")
  }

  @Test("R21: a runtime folder whose path is too long for the socket is refused", arguments: -2...2)
  func longFolder(more: Int) throws {
    let base = home.runtimeFolder + "/"
    // With /pinna/pinna.sock appended: 107 bytes, the longest address, less `more`.
    let length = 107 - "/pinna/pinna.sock".utf8.count - more
    try #require(base.utf8.count < length)
    let runtime = base.padding(toLength: length, withPad: "x", startingAt: 0)
    try FileManager.default.createDirectory(
      atPath: runtime, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    let environment = home.environment.merging(["XDG_RUNTIME_DIR": runtime]) { $1 }
    let opened = Result { try ControlSocket(name: "pinna", environment: environment) }
    #expect((try? opened.get()) != nil ? more >= 0 : more < 0, "\(opened)")
  }
}
