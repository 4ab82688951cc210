import Acoustics
import Glibc
import Messages
import Presets
import Processor
import Recording
import Settings
import Text

/// The loop of the control thread: receives requests from the socket, passes them to the processor, and sends the
/// answers.
///
/// Thread: control thread, which is the thread that calls `run`.
public final class Controller {
  /// Why `run` returned.
  public enum End: Sendable, Equatable {
    case stopped
    case serverGone(String)
    /// The processor never joined a graph.
    case notStarted(Failure)
  }

  let socket: ControlSocket
  /// Each has a turn in this order.
  let sources: [any RequestSource]
  /// Nil without `--osc-port`.
  let udp: UDPSocket?
  /// Nil without `--pose-port`.
  let poses: PoseSocket?
  /// Nil without a session manager.
  let nsm: NSMClient?
  let processor: Processor
  var register = SessionRegister()
  let events: ControllerEvents
  private let tell: (String) -> Void
  let warn: (String) -> Void
  /// How long to wait for the first server.
  private let wait: Duration
  /// Serves the web page and returns its address; waits for a process.
  private let servePage: (@Sendable () throws -> String)?
  private let onStart: () -> Void
  private let onStop: () -> Void
  /// Requests that arrived before the first graph, or after a preset change whose file is still being read. Each is
  /// served by its deadline.
  private var deferredRequests: [(message: OSCMessage, sender: Sender, deadline: ContinuousClock.Instant)] =
    []
  /// Changes that wait for a preset file.
  let reads = PendingReads()
  /// Requests that wait for a list of names.
  let lists = PendingReads()
  private var hasStarted = false
  private var isStopTold = false
  let midi: MIDI
  /// Why files cannot be made again, as far as it has been written.
  var reportedObstacles: [Failure] = []

  /// - Parameters:
  ///   - midi: what MIDI messages do.
  ///   - wait: how long to wait for the first server before `run` returns.
  ///   - servePage: serves the web page and returns its address. Called on a thread that may wait.
  ///   - onStart: called once, when the processor has joined its first graph.
  ///   - onStop: called once, when the processor begins to stop.
  ///   - tell: prints a line that the operator requested.
  ///   - warn: prints a line that the operator did not request.
  package init(
    socket: ControlSocket, udp: UDPSocket? = nil, poses: PoseSocket? = nil, nsm: NSMClient? = nil,
    processor: Processor,
    events: ControllerEvents, midi: MIDISetup = MIDISetup(), wait: Duration = .zero,
    servePage: (@Sendable () throws -> String)? = nil, onStart: @escaping () -> Void,
    onStop: @escaping () -> Void = {}, tell: @escaping (String) -> Void,
    warn: @escaping (String) -> Void
  ) {
    self.socket = socket
    self.udp = udp
    self.poses = poses
    self.nsm = nsm
    self.processor = processor
    self.events = events
    self.midi = MIDI(setup: midi)
    let all: [(any RequestSource)?] = [self.midi, udp, poses, nsm]
    sources = all.compactMap(\.self)
    self.tell = tell
    self.warn = warn
    self.wait = wait
    self.servePage = servePage
    self.onStart = onStart
    self.onStop = onStop
    processor.onEvent = { [unowned self] in announce($0) }
  }

  /// Joins a graph and serves requests until Pinna is stopped or the server is lost for good. Finalises a running take.
  /// - Returns: why it ended, and whether the takes are complete.
  public func run() -> (end: End, takes: TakeOutcome) {
    let waitEnd = ContinuousClock.now + wait
    var end = End.notStarted(Failure(.failed, "stopped before it was in a graph"))
    processor.poll()
    while !processor.isStopped {
      events.clearWake()
      if events.stopRequested, !processor.isStopping { processor.stop(nil) }
      if events.consumeStatusRequest() { tell(json(status)) }
      if events.consumeGraphChange() { processor.graphChanged() }
      if events.consumeReloadRequest() { reload() }
      receive(within: patience)
      processor.poll()
      reads.poll()
      lists.poll()
      if case .notStarted = end, !processor.isStopping {
        if processor.state.isInGraph {
          end = .stopped
          hasStarted = true
          onStart()
        } else if let failure = processor.startFailure(isWaiting: .now < waitEnd) {
          end = .notStarted(failure)
          processor.stop(nil)
        }
      }
      if let reason = processor.permanentLossReason, !processor.isStopping {
        end = .serverGone(reason)
        processor.stop(nil)
      }
      if processor.isStopping, !isStopTold {
        isStopTold = true
        onStop()
      }
      serveDeferred()
      maintainSessions()
      for source in sources { source.serve(self) }
      restoreFiles()
    }
    reads.abandonAll()
    lists.abandonAll()
    let reason = if case .notStarted(let failure) = end { failure.description } else { "Pinna was stopped" }
    for source in sources { source.leave(reason) }
    announce(EngineEvent(.engineGone, "Pinna has stopped"))
    socket.leave(Answer(.notRunning, "Pinna has just stopped; start it again with: pinna run").message)
    processor.closeClient()
    return (end, processor.takes.outcome)
  }

  /// How long the loop may wait, in milliseconds, if nothing wakes this thread.
  private var patience: Int32 {
    let own = reads.isEmpty && lists.isEmpty ? processor.patience : .milliseconds(2)
    var longest = sources.compactMap(\.patience).reduce(own, min)
    if !deferredRequests.isEmpty { longest = min(longest, .milliseconds(45)) }
    return Int32((longest / .milliseconds(1)).rounded(.up))
  }

  private var status: StatusReport {
    processor.status(
      droppedPackets: sources.reduce(socket.droppedPackets) { $0 + $1.droppedPackets },
      deferredChanges: register.deferredChanges,
      controller: register.controller, midi: midiReport)
  }

  /// Reads the preset's file and the MIDI files again (SIGHUP). Changes nothing if a file is invalid or a take is
  /// running; deferred while a session controls the route.
  private func reload() {
    let name = processor.wanted.preset
    let request = Request { [warn] outcome in
      switch outcome {
      case .failed(let failure): warn("preset \(name) was not reloaded: \(failure)")
      case .done(let document):
        if let kept = (document as? ChangeReport)?.kept {
          warn("preset \(name) is not reloaded yet: \(kept)")
        } else {
          warn("preset \(name) was reloaded")
        }
      }
    }
    request.attempt { try change([.preset(name)], of: nil, request) }
    let midiRequest = Request { [warn] outcome in
      if case .failed(let failure) = outcome { warn("the files for MIDI were not reloaded: \(failure)") }
    }
    midiRequest.attempt { try loadMIDI(bank: nil, midiRequest) }
  }

  /// Serves a request, or defers it:
  /// - before the first graph for 20 s, which is less than clients wait for an answer; a status request for 1 s;
  /// - while a preset file is being read: what that preset might undo until it has been read, anything else for 50 ms;
  ///   queries are served at once.
  ///
  /// A stop and a subscription are always served at once.
  func receive(_ message: OSCMessage, from sender: Sender) {
    let action = OSCMethod.at(message.path)?.action
    let isQuery = [.status, .inputs, .levels, .outputs, .feedList].contains(action)
    let waits = hasStarted ? !reads.isEmpty && !isQuery : true
    guard waits, action != .stop, action != .subscribe, action != .unsubscribe, deferredRequests.count < 64,
      !processor.isStopping
    else {
      return serve(message, from: sender)
    }
    let patience: Duration =
      !hasStarted
      ? .seconds(action == .status ? 1 : 20)
      : Self.isUndoneByPreset(action, message.words) ? PendingReads.patience : .milliseconds(50)
    deferredRequests.append((message, sender, .now + patience))
  }

  /// Whether the request changes what presets set. They leave the mute as it is.
  private static func isUndoneByPreset(_ action: OSCMethod.Action?, _ words: [String]) -> Bool {
    switch action {
    case .setOne(let key): key != .mute && !words.isEmpty
    case .set: words.count > 2 || words.count == 2 && (try? SettingKey(word: words[0])) != .mute
    case .feedSet: words.count > 2
    case .sessionSet, .usePreset, .feedAdd, .feedRemove: true
    default: false
    }
  }

  private func serveDeferred() {
    func isDue(_ deadline: ContinuousClock.Instant) -> Bool {
      hasStarted && reads.isEmpty || processor.isStopping || .now > deadline
    }
    // One at a time: serving a request may make the others wait again.
    while let next = deferredRequests.firstIndex(where: { isDue($0.deadline) }) {
      let (message, sender, _) = deferredRequests.remove(at: next)
      serve(message, from: sender)
    }
  }

  private func serve(_ message: OSCMessage, from sender: Sender) {
    let request = Request(
      onProgress: { [unowned self] in sendProgress($0, part: $1, to: sender) },
      isThere: { [unowned self] in isThere(sender) },
      onAnswer: { [unowned self] in send(Answer($0), to: sender) })
    request.attempt { try dispatch(message, sender, request) }
  }

  private func dispatch(_ message: OSCMessage, _ sender: Sender, _ request: Request) throws {
    guard let method = OSCMethod.at(message.path) else {
      throw UnknownWord(kind: "method", word: message.path, choices: OSCMethod.all.map(\.path))
    }
    let (message, isReleased) = method.button(in: message)
    if isReleased { return request.answer(.done(["released": true])) }
    let words = message.words
    guard method.accepts(words.count) else {
      throw Failure(
        .usage, "\(method.path) expects \(method.arguments); it got \("argument".counted(words.count))")
    }
    switch method.action {
    case .status: request.answer(.done(status))
    case .inputs: request.answer(.done(processor.inputsReport))
    case .levels: request.answer(.done(processor.levels))
    case .talkers: request.answer(.done(try processor.talkersAnswer))
    case .names(let list): try answer(list, words.first, request)
    case .set where words.isEmpty: request.answer(.done(processor.changeReport()))
    case .set: try change(Change.list(words[...]), of: nil, request)
    case .setOne(let key) where words.isEmpty:
      request.answer(.done([key.rawValue: try processor.inForce.value(of: key)]))
    case .setOne(let key):
      // A look has two numbers.
      try change([Change(key, words.joined(separator: ","))], of: nil, request)
    case .feedList: request.answer(.done(FeedsAnswer(feeds: processor.feedReports)))
    case .feedAdd: try processor.addFeed(words[0], FeedWords(words.dropFirst()), request)
    case .feedSet: try setFeed(words[0], words.dropFirst(), request)
    case .feedRemove: try processor.removeFeed(words[0], request)
    case .usePreset: try change([.preset(words[0])], of: nil, request)
    case .cancelPreset: try processor.cancelChange(request)
    case .sessionOpen: request.answer(try open(words[0], refuseSessionOverUDP(sender)))
    case .sessionClaim: request.answer(try claim(token(words, sender), words[1]))
    case .sessionSet:
      let token = try token(words, sender)
      try change(Change.list(words.dropFirst()), of: token, request)
    case .sessionPeriod: try requestPeriod(token(words, sender), words[1], request)
    case .sessionClose: request.answer(try close(token(words, sender)))
    case .record: try record(words.first, request)
    case .recordStart: try startTake(takeRequest(words, sender), request)
    case .play: try play(words[0], sender, request)
    case .playStop: try processor.stopPlayback(request)
    case .recordStop: try processor.stopTake(request)
    case .useBank: try loadMIDI(bank: words[0], request)
    case .loadMIDI: try loadMIDI(bank: nil, request)
    case .learnMIDI: try learn(words.first, request)
    case .mark: try processor.mark(words.first ?? "", request)
    case .title: try processor.setTitle(words[0], request)
    case .outputs: try answerOutputs(words[0], request)
    case .forget: request.answer(.done(ForgetAnswer(forgotten: processor.world.forgetConnections())))
    case .subscribe: request.answer(try subscribe(words, sender))
    case .unsubscribe: try unsubscribe(sender, request)
    case .pose(let format): try pose(format, words, request)
    case .calibrateTracker(let step):
      try processor.calibrateTracker(step)
      answerPose(request)
    case .servePage: try answerPage(sender, request)
    case .stop: processor.stop(request)
    }
  }

  /// Changes a feed; `main` is one of them. With one word, answers the present value of that, without any the feed.
  func setFeed(_ name: String, _ words: ArraySlice<String>, _ request: Request) throws {
    if words.count == 1, let word = words.first {
      let key = try SettingKey(word: word)
      return request.answer(.done([key.rawValue: try processor.inForce.value(of: key, feed: name)]))
    }
    if FeedSetting.isMain(name) {
      return words.isEmpty
        ? request.answer(.done(processor.changeReport()))
        : try change(Change.list(words), of: nil, request)
    }
    if words.isEmpty { return request.answer(.done(try processor.feedAnswer(name))) }
    try processor.setFeed(name, FeedWords(words), request)
  }

  /// Starts or stops a take, as the toggle of a control surface does. Without a word, answers whether one is running.
  func record(_ word: String?, _ request: Request) throws {
    guard let word else {
      return request.answer(.done(["record": SettingValue.flag(processor.state.take != nil)]))
    }
    switch try Switch(argument: word) {
    case .on: try startTake(TakeRequest(words: []), request)
    case .off: try processor.stopTake(request)
    }
  }

  /// Answers names, once they have been read.
  /// - Parameter count: how many takes; nil for `NamesAnswer.takes`.
  private func answer(_ list: NameList, _ count: String?, _ request: Request) throws {
    let most =
      try count.map { try Self.wholeNumber($0, of: "takes", in: NamesAnswer.takeCounts) } ?? NamesAnswer.takes
    try lists.add("the list of \(list)", processor.world.names(of: list, most: most), request) {
      request.answer(.done(NamesAnswer(list, $0)))
    }
  }

  /// - Parameter what: what is counted, for messages.
  static func wholeNumber(_ text: String, of what: String, in range: ClosedRange<Int>) throws(Failure) -> Int
  {
    // Control surfaces send whole numbers as floats.
    if let number = text.decimal.flatMap({ Int(exactly: $0) }), range.contains(number) {
      return number
    }
    throw Failure(
      .usage,
      "\(text.quoted) \(what) are not usable; give a whole number from \(range.lowerBound) to \(range.upperBound)"
    )
  }

  /// Answers the address of the web page, once it is served.
  private func answerPage(_ sender: Sender, _ request: Request) throws {
    guard case .local = sender, let servePage else {
      throw Failure(.refused, "the web page's address is not told here; run: pinna monitor --web")
    }
    try lists.add("the web page", Job.start("pinna web") { _ in try servePage() }, request) {
      request.answer(.done(["address": $0]))
    }
  }

  private func answerOutputs(_ count: String, _ request: Request) throws {
    let frames = try Self.wholeNumber(count, of: "frames", in: OutputSamples.range)
    let (end, samples) = processor.client?.newestOutputs(frames) ?? (0, [])
    request.answer(
      .done(OutputSamples(sampleRate: processor.client?.sampleRate ?? 0, end: end, samples)))
  }
}
