import Foundation
import Messages
import Threads

/// Makes this process another user's.
func becomeNobody() {
  guard setgid(65534) == 0, setuid(65534) == 0, getuid() == 65534 else {
    say("only root can become another user")
    exit(77)
  }
}

/// An address of a Unix socket; abstract if the text begins with @.
struct SocketAddress {
  var address = sockaddr_un()
  let length: socklen_t

  init(_ text: String) {
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = text.hasPrefix("@") ? [0] + Array(text.utf8.dropFirst()) : Array(text.utf8) + [0]
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes.prefix(108)) }
    length = socklen_t(MemoryLayout<sa_family_t>.size + min(bytes.count, 108))
  }

  func with<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
    }
  }
}

func makeSocket(_ type: __socket_type) -> Int32 { socket(AF_UNIX, Int32(type.rawValue), 0) }

/// Sends forged answers and events to every socket of this network namespace, over and over, with and without a
/// connection.
func forge() -> Never {
  let own = makeSocket(SOCK_DGRAM)
  let packets = [
    OSCMessage("/pinna/reply", [.integer(0), .string("forged")]).packet,
    OSCMessage("/pinna/reply", [.integer(0), .string("forged"), .string("#1")]).packet,
    OSCMessage("/pinna/event", [.string("takeEnded"), .string("forged")]).packet,
  ]
  say("forging")
  while true {
    let table = SmallFile.text("/proc/net/unix") ?? ""
    for line in table.split(separator: "\n").dropFirst() {
      guard let name = line.split(separator: " ").dropFirst(7).first else { continue }
      let (address, connected) = (SocketAddress(String(name)), makeSocket(SOCK_SEQPACKET))
      _ = address.with { connect(connected, $0, $1) }
      for packet in packets {
        _ = address.with {
          sendto(own, packet, packet.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL), $0, $1)
        }
        _ = send(connected, packet, packet.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
      }
      close(connected)
    }
  }
}

/// Listens at an address and prints what arrives.
func take(_ name: String) -> Never {
  let own = makeSocket(SOCK_SEQPACKET)
  guard SocketAddress(name).with({ bind(own, $0, $1) }) == 0, listen(own, 8) == 0 else {
    say("taken: \(String(cString: strerror(errno)))")
    exit(1)
  }
  chmod(name, 0o666)
  say("bound")
  var buffer = [UInt8](repeating: 0, count: 65_536)
  while true {
    let connection = accept(own, nil, nil)
    let count = recv(connection, &buffer, buffer.count, 0)
    if count > 0 { say("heard \(OSCMessage(packet: buffer.prefix(count)).map { "\($0)" } ?? "something")") }
    close(connection)
  }
}

/// Connects, sends a request, and prints what came of it.
func ask(_ path: String, _ words: ArraySlice<String>) {
  let own = makeSocket(SOCK_SEQPACKET)
  guard SocketAddress(path).with({ connect(own, $0, $1) }) == 0 else {
    return say("not connected: \(String(cString: strerror(errno)))")
  }
  say("connected")
  let packet = OSCMessage(words.first ?? "/", words.dropFirst().map { .string($0) }).packet
  _ = send(own, packet, packet.count, Int32(MSG_NOSIGNAL))
  var buffer = [UInt8](repeating: 0, count: 65_536)
  say(recv(own, &buffer, buffer.count, 0) > 0 ? "heard something" : "heard nothing")
}

func own(_ path: String, _ kind: String) throws {
  let made =
    switch kind {
    case "folder": mkdir(path, 0o700)
    case "link": symlink("/var/tmp", path)
    default: creat(path, 0o600)
    }
  exit(made < 0 ? 1 : 0)
}

/// Sends requests over UDP, waits a second for answers, and says how many came and whether the token can be read.
func shout(port: UInt16, tokenFile: String) {
  becomeNobody()
  let own = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  let packets =
    [
      OSCMessage("/pinna/subscribe", [.string(String(repeating: "0", count: 32))]),
      OSCMessage("/pinna/set/gain", [.float(12)]), OSCMessage("/pinna/status"),
      OSCMessage("/pinna/record/start"),
      OSCMessage("/pinna/stop"),
    ].map(\.packet) + [Array("hello".utf8)]
  for _ in 0..<100 {
    for packet in packets {
      _ = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          sendto(own, packet, packet.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
    }
    usleep(5000)
  }
  sleep(1)
  var heard = 0
  var buffer = [UInt8](repeating: 0, count: 65_536)
  while recv(own, &buffer, buffer.count, Int32(MSG_DONTWAIT)) >= 0 { heard += 1 }
  say("heard \(heard), token \(open(tokenFile, O_RDONLY) >= 0 ? "read" : "not read")")
}
