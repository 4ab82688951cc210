import Control
import Foundation
import Messages
import PinnaSession

/// A control thread that knows a few methods and no audio.
///
/// - `/peer/echo WORD…`: the words, after ten milliseconds, the length of a short crossfade.
/// - `/peer/late MILLISECONDS WORD…`: the same, later.
/// - `/peer/letters COUNT`: a text of so many bytes.
/// - `/peer/dropped`: the number of dropped packets.
/// - `/peer/exhaust`: opens files until no descriptors are left.
/// - `/peer/event TEXT`: sends the event of a take's start to the client that opened a session.
/// - `/pinna/session/open`: opens one.
/// - `/pinna/stop`: says that it has stopped, and goes on.
/// - Any other: no answer; its path is printed.
func serve() throws {
  let socket = try ControlSocket(name: "pinna")
  say("ready")
  var listener: ControlSocket.Sender?
  var pending: [(due: ContinuousClock.Instant, answer: OSCMessage, sender: ControlSocket.Sender)] = []
  while true {
    if let (message, sender) = socket.receive(milliseconds: pending.isEmpty ? 50 : 1), let message {
      let words = message.words
      var delay = Duration.milliseconds(10)
      var text: String? = words.joined(separator: " ")
      switch message.path {
      case "/peer/echo": break
      case "/peer/late":
        delay = .milliseconds(Int(words.first ?? "") ?? 0)
        text = words.dropFirst().joined(separator: " ")
      case "/peer/letters": text = String(repeating: "a", count: Int(words.first ?? "") ?? 0)
      case "/peer/dropped": text = "\(socket.droppedPackets)"
      case "/peer/stop": exit(0)
      case "/pinna/stop": text = #"{"stopped":true}"#
      case "/peer/exhaust":
        while open("/dev/null", O_RDONLY) >= 0 {}
        text = "exhausted"
      case "/pinna/session/open":
        listener = sender
        text = #"{"session":"one"}"#
      case "/peer/event":
        if let listener, let text {
          socket.send(OSCMessage("/pinna/event", [.string("takeBegan"), .string(text)]), to: listener)
        }
      default:
        text = nil
        say(message.path)
      }
      if let text {
        pending.append((.now + delay, OSCMessage("/pinna/reply", [.integer(0), .string(text)]), sender))
      }
    }
    let now = ContinuousClock.now
    for each in pending where each.due <= now { socket.send(each.answer, to: each.sender) }
    pending.removeAll { $0.due <= now }
  }
}

/// Sends a request and ends with its status.
func call(_ words: ArraySlice<String>) -> Never {
  let message = OSCMessage(words.first ?? "/", words.dropFirst().map { .string($0) })
  do {
    let answer = try ControlClient(name: "pinna").request(message, seconds: 10)
    say(answer.text)
    exit(answer.status.rawValue)
  } catch {
    say("\(error)")
    exit(error.status.rawValue)
  }
}

/// Prints a session's events.
func listen() throws {
  let done = DispatchSemaphore(value: 0)
  let listener = try ControlListener(client: ControlClient(name: "pinna"), program: "peer") {
    say("\($0.kind) \($0.text)")
    if $0.text == "last" { done.signal() }
  }
  say("listening")
  done.wait()
  withExtendedLifetime(listener) {}
}

/// Waits for a turn that never comes.
func waitForTurn(seconds: Double) {
  let turn = Turn()
  guard turn.enter(seconds: 0) else { return }
  let asked = ContinuousClock.now
  guard !turn.enter(seconds: seconds) else { return }
  say("\((ContinuousClock.now - asked) / .seconds(1))")
}

/// Sends a signal every five milliseconds. Its handler does nothing, and interrupted calls are not restarted.
func startAlarms() {
  var action = sigaction()
  action.__sigaction_handler.sa_handler = { _ in }
  sigaction(SIGALRM, &action, nil)
  var timer = itimerval(
    it_interval: timeval(tv_sec: 0, tv_usec: 5000), it_value: timeval(tv_sec: 0, tv_usec: 5000))
  setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &timer, nil)
}

/// Prints a line at once, even if standard output is a file.
func say(_ line: String) {
  let bytes = Array((line + "\n").utf8)
  var at = 0
  while at < bytes.count {
    let count = bytes[at...].withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
    if count > 0 { at += count } else if errno != EINTR { return }
  }
}
