import CSockets
import Foundation
import Messages

extension Datagram {
  /// The address of the sender's socket; nil if the disk that holds the socket does not answer.
  ///
  /// Thread: control thread.
  func origin(through senderSockets: SenderSocketAccess) -> Origin? {
    guard addressLength > 0 else { return .nowhere }
    let bytes = withUnsafeBytes(of: address.sun_path) { Array($0.prefix(addressLength)) }
    guard let first = bytes.first, first != 0 else { return .abstract(bytes) }
    let path = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    guard case .done(let socket) = senderSockets.perform(at: path, { HeldSocket(path: path) }) else {
      return nil
    }
    return socket.map(Origin.held) ?? .nowhere
  }

  enum Origin: Sendable, Equatable {
    /// Unbound, or bound to a path that belongs to another user: no reply is possible.
    case nowhere
    /// An abstract address, which any user may bind once its owner has gone.
    case abstract([UInt8])
    case held(HeldSocket)
  }
}

/// A sender's socket, identified by its inode rather than its path. Another socket that is bound to the same path later
/// never receives the replies.
///
/// Thread: any; immutable.
final class HeldSocket: Sendable, Equatable {
  let path: String
  /// An `O_PATH` descriptor of the socket's file; nil if this process has no file descriptors left. Then the path is
  /// used instead; in a folder of this user, only this user's programs can bind it.
  private let file: Datagram.FileDescriptor?
  private let inode: [UInt64]

  var isHeld: Bool { file != nil }

  /// Nil if there is no socket of this user at `path`. May hang with the disk that holds it.
  init?(path: String) {
    // A relative path is relative to the sender's working folder, which is unknown here.
    guard path.hasPrefix("/") else { return nil }
    let held = pinna_hold(path)
    var information = stat()
    if held >= 0 {
      file = Datagram.FileDescriptor(held)
      guard fstat(held, &information) == 0 else { return nil }
    } else {
      guard errno == EMFILE || errno == ENFILE, lstat(path, &information) == 0 else { return nil }
      file = nil
    }
    guard information.st_mode & S_IFMT == S_IFSOCK, information.st_uid == getuid() else { return nil }
    self.path = path
    inode = [UInt64(information.st_dev), UInt64(information.st_ino)]
  }

  static func == (a: HeldSocket, b: HeldSocket) -> Bool { a.inode == b.inode }

  /// Calls `body` with an address that resolves to this socket only.
  func withAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    withSocketAddress(file.map { "/proc/self/fd/\($0.number)" } ?? path, body)
  }
}
