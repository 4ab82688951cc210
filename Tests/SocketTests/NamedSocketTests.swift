import Control
import Foundation
import LiveSupport
import TestSupport
import Testing

@Suite("The control socket's place, where others tidy up") struct NamedSocketTests {
  let home: PinnaHome
  var folder: String { home.runtimeFolder + "/pinna" }
  var path: String { folder + "/pinna.sock" }

  init() throws { home = try PinnaHome() }

  func open() throws -> ControlSocket { try ControlSocket(name: "pinna", environment: home.environment) }

  /// Whether a request that is sent to the path now arrives at `socket`.
  func reaches(_ socket: ControlSocket) throws -> Bool {
    guard access(path, F_OK) == 0 else { return false }
    try RuntimeFolder.prepare(environment: home.environment)
    let sender = try ControlSender(runtimeFolder: home.runtimeFolder)
    guard sender.send("/pinna/status") else { return false }
    return socket.receive(milliseconds: 1000)?.message?.path == "/pinna/status"
  }

  /// Serves `socket` for as long as it may take to notice that something is gone.
  func serve(_ socket: ControlSocket, seconds: Double = 2.5) {
    _ = waitUntil(seconds: seconds) {
      _ = socket.receive(milliseconds: 20)
      return false
    }
  }

  @Test(
    "R21: a second of the same name is refused where the lock file was removed, and the first is still reached"
  )
  func removedLock() throws {
    let first = try open()
    unlink(path + ".lock")
    let refusal = #expect(throws: Failure.self) { try open() }
    #expect(refusal?.description.contains("running already") == true)
    #expect(try reaches(first))
    // The lock is taken again, and keeps others out even while there is no socket.
    serve(first)
    unlink(path)
    #expect(throws: Failure.self) { try open() }
  }

  @Test(
    "R21: what is removed is made again within two seconds, and requests arrive",
    arguments: ["/pinna.sock", "/pinna.sock.lock", "/clients", ""])
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

  @Test("R21: a socket that was renamed away, or replaced by a file, is made again")
  func replaced() throws {
    let socket = try open()
    #expect(rename(path, path + ".old") == 0)
    try Data().write(to: URL(filePath: path))
    serve(socket)
    #expect(try reaches(socket))
  }

  @Test("R21: one that ends leaves another's socket alone, which took the name when the folder was removed")
  func successor() throws {
    var first: ControlSocket? = try open()
    try FileManager.default.removeItem(atPath: folder)
    let second = try open()
    #expect(try reaches(second))
    // It does not take it away either.
    serve(try #require(first))
    #expect(try reaches(second))
    first?.leave(OSCMessage("/pinna/reply"))
    #expect(try reaches(second))
    first = nil
    #expect(try reaches(second))
  }

  @Test("R21: and takes the name back when the other ends")
  func takenBack() throws {
    let first = try open()
    try FileManager.default.removeItem(atPath: folder)
    var second: ControlSocket? = try open()
    #expect(try reaches(try #require(second)))
    second = nil
    serve(first)
    #expect(try reaches(first))
  }

  @Test("one that has left makes nothing again, and the next has the name at once")
  func left() throws {
    let first = try open()
    first.leave(OSCMessage("/pinna/reply"))
    serve(first)
    #expect(access(path, F_OK) != 0)
  }

  @Test("R21: a runtime folder that is not given from the root is refused, by a server and by a client")
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

  @Test("R21: a runtime folder in which a server's path fits, and no client's, is refused", arguments: 0...9)
  func longFolder(more: Int) throws {
    let base = home.runtimeFolder + "/"
    // With /pinna/pinna.sock behind it 107 bytes, the most that an address holds, less so many.
    let length = 107 - "/pinna/pinna.sock".utf8.count - more
    try #require(base.utf8.count < length)
    let runtime = base.padding(toLength: length, withPad: "x", startingAt: 0)
    try FileManager.default.createDirectory(
      atPath: runtime, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    let environment = home.environment.merging(["XDG_RUNTIME_DIR": runtime]) { $1 }
    let opened = Result { try ControlSocket(name: "pinna", environment: environment) }
    // The longest name of a client is eight bytes longer.
    #expect((try? opened.get()) != nil ? more >= 8 : more < 8, "\(opened)")
  }
}
