import CNcurses
import Glibc
import Messages
import Settings

/// `pinna monitor`: keys, signals and news in, frames out. It sleeps in `poll` alone.
///
/// Thread: main thread.
package struct MonitorLoop {
  /// At most 25 frames a second, and at once after a key.
  private static let frameInterval = Duration.milliseconds(40)
  /// How long after an Escape byte the rest of a sequence may come.
  private static let escapeTime: Int32 = 50

  private var model: MonitorModel
  private let terminal: Terminal
  private let screen: Screen
  private let isASCII: Bool
  private let news: Mailbox<News>
  private let signals: MonitorSignals
  private let commands: CommandQueues
  private var decoder = KeyDecoder()
  private var nextFrame = ContinuousClock.now
  private var isEnding = false

  /// Runs until the user or a signal ends it. The terminal is then as it was.
  /// - Parameters:
  ///   - name: of the Pinna to watch.
  ///   - type: of the terminal, as TERM names it.
  /// - Throws: if there is no terminal that can be drawn on.
  package static func run(name: String, terminal type: String, allowsColour: Bool) throws(Failure) {
    var loop = try MonitorLoop(name, type, allowsColour)
    loop.run()
  }

  private init(_ name: String, _ type: String, _ allowsColour: Bool) throws(Failure) {
    terminal = try Terminal()
    isASCII = !pinna_locale_is_utf8()
    screen = try Screen(type: type, allowsColour: allowsColour)
    signals = try MonitorSignals()
    guard let news = Mailbox<News>() else { throw Failure(.failed, "there are no file descriptors left") }
    self.news = news
    model = MonitorModel(name: name)
    let client = ControlClient(name: name)
    let poller = MonitorPoller(client, news)
    commands = CommandQueues(client, poller, news)
    try poller.start()
  }

  private mutating func run() {
    terminal.enter()
    while !isEnding, !model.isDone {
      draw()
      wait()
      for number in signals.drain() { obey(number) }
      for item in news.drain() { model.take(item, at: .now) }
    }
    terminal.leave(screen.farewell())
  }

  /// Waits for keys, news, signals, or the time of the next frame.
  private mutating func wait() {
    let idle: Int32 = decoder.isWaiting ? Self.escapeTime : 250
    var requests = [STDIN_FILENO, news.descriptor, signals.descriptor].map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    if let request = terminal.request { requests.append(request) }
    guard poll(&requests, nfds_t(requests.count), idle) >= 0 else { return }
    if requests.count > 3, requests[3].revents != 0 { terminal.send() }
    if requests[0].revents != 0 {
      guard let bytes = terminal.input() else {
        isEnding = true
        return
      }
      press(decoder.keys(bytes))
    } else if decoder.isWaiting {
      press(decoder.flush())
    }
  }

  private mutating func press(_ keys: [Key]) {
    for key in keys {
      for command in model.press(key, at: .now) { commands.send(command) }
      nextFrame = .now
    }
  }

  /// Sends a frame, unless it is too early, or the terminal is still busy with the last one: then this one is dropped.
  private mutating func draw() {
    let now = ContinuousClock.now
    guard now >= nextFrame, terminal.isReady else { return }
    nextFrame = now + Self.frameInterval
    let (width, height) = terminal.size
    let grid = MonitorView.grid(model, width: width, height: height, at: now, isASCII: isASCII)
    terminal.send(screen.bytes(showing: grid))
  }

  private mutating func obey(_ signal: Int32) {
    switch signal {
    case SIGWINCH: nextFrame = .now
    case SIGTSTP: suspend()
    default: isEnding = true
    }
  }

  /// Gives the terminal back, stops, and takes it again in the foreground.
  private mutating func suspend() {
    terminal.leave(screen.farewell())
    repeat { kill(getpid(), SIGSTOP) } while ![getpgrp(), -1].contains(tcgetpgrp(STDIN_FILENO))
    terminal.enter()
    screen.redraw()
    nextFrame = .now
  }
}
