import Acoustics
import Glibc
import JackClient
import Messages
import Presets
import Processor
import Settings
import Text

/// MIDI: program changes choose presets of the bank; controllers and notes change what their file says (`MIDIEffect`).
/// MIDI has no way to answer, so failures are written to the operator's terminal, and so are takes that begin and end.
extension Controller {
  /// The state of MIDI. A class, because answers arrive while an event is acted upon.
  final class MIDI {
    var setup: MIDISetup
    var inbox = MIDIInbox()
    /// The lanes in which a change that a controller made is still fading in. The next value waits, so that a moving
    /// fader makes one crossfade after another instead of superseding itself.
    var fading: Set<Lane> = []
    /// Where each fader, knob and switch was when it was last acted upon, from 0 to 127. Forgotten when it may have
    /// been moved unheard.
    var positions: [MIDIMap.Source: Int] = [:]
    /// The ports that send MIDI.
    var sources: [String] = []
    /// A request for the next control that is moved.
    var learning: (request: Request, learner: MIDILearner)?
    /// When the last failure of each control was written, and of programs (nil). The next one is written after
    /// `complaintInterval`: a fader that moves during a take must not fill the terminal.
    var complaints: [MIDIMap.Source?: ContinuousClock.Instant] = [:]

    init(setup: MIDISetup) { self.setup = setup }

    static let complaintInterval = Duration.seconds(5)

    /// What changes one after another: the values of a feed, but for its look, whose filters may have to be designed.
    struct Lane: Hashable {
      let feed: String
      let isLook: Bool

      init(_ controller: MIDIMap.Controller) {
        feed = controller.feed
        isLook = controller.target.action == .change(.look)
      }
    }
  }

  /// Full names of the ports that send MIDI to Pinna.
  private var midiSources: [String] {
    guard processor.state.isInGraph else { return [] }
    return (processor.graph.connections[ArrayClient.controlName] ?? []).sorted()
  }

  var midiReport: MIDIReport { MIDIReport(midi.setup, sources: midiSources) }

  fileprivate func serveMIDI() {
    let messages = processor.client?.drainMIDI() ?? []
    let sources = midiSources
    if sources != midi.sources || midi.learning != nil { midi.positions = [:] }
    midi.sources = sources
    if midi.learning != nil { return learn(from: messages) }
    midi.inbox.add(messages, midi.setup.map)
    while let event = midi.inbox.pop(where: isFree) { act(on: event) }
  }

  /// Program changes, takes and markers never wait; changes of a feed by controllers follow each other, and presets that
  /// are being read.
  private func isFree(_ event: MIDIInbox.Event) -> Bool {
    guard let controller = event.controller, controller.target.isSetting else { return true }
    return !midi.fading.contains(MIDI.Lane(controller)) && reads.isEmpty
  }

  private func act(on event: MIDIInbox.Event) {
    let names = processor.inForce.device.dataSources.map(\.name)
    switch event {
    case .program(let program): choose(program)
    case .position(let controller, let wire):
      let last = midi.positions.updateValue(wire, forKey: controller.source)
      perform(controller) { controller.effect(at: wire, last: last, present: $0, dataSources: names) }
    case .clicks(let controller, let clicks):
      perform(controller) { controller.effect(clicks: clicks, present: $0, dataSources: names) }
    case .presses(let controller, let presses):
      perform(controller) { controller.effect(presses: presses, present: $0, dataSources: names) }
    }
  }

  private func choose(_ program: Int) {
    let bank = midi.setup.bank
    guard bank.presets.indices.contains(program) else {
      let name = bank.name.map { "the bank \($0)" } ?? "the bank of all presets"
      return complain(
        "MIDI program \(program + 1): \(name) has \(bank.presets.count) presets; send a program from 1 to "
          + "\(bank.presets.count), or choose another bank with: pinna bank use NAME", about: nil)
    }
    let request = request("MIDI program \(program + 1)", about: nil)
    request.attempt { try change([.preset(bank.presets[program])], of: nil, request) }
  }

  /// The value that `controller` sets, as `pinna set` takes it; of a look, one angle.
  /// - Throws: if its feed does not exist, or has no look.
  private func present(_ controller: MIDIMap.Controller) throws -> String {
    switch (controller.target, controller.target.action) {
    case (.lookAzimuth, _): SettingValue.number(try look(of: controller.feed).azimuth).word
    case (.lookElevation, _): SettingValue.number(try look(of: controller.feed).elevation).word
    case (_, .change(let key)):
      switch (try processor.wanted.value(of: key, feed: controller.feed), controller.scale) {
      // To a fader, none is 0.
      case (.off, .range): "0"
      case (let value, _): value.word
      }
    case (_, .record): SettingValue.flag(processor.state.take != nil).word
    case (_, .mark): ""
    }
  }

  /// The look that was asked for last, whether its filters are there or not.
  private func look(of feed: String) throws -> Look {
    let selection =
      try processor.asked.feed(named: feed).selection
    guard let look = selection.turnableLook else {
      throw Failure(
        .unsupported, "\(selection.polarPattern.phrase) has no look; choose a mono pattern, such as cardioid")
    }
    return look
  }

  /// `value` as `pinna set` takes it: of a look, with its other angle.
  private func word(_ value: String, of controller: MIDIMap.Controller) throws -> String {
    guard let angle = value.decimal else { return value }
    switch controller.target {
    case .lookAzimuth:
      return Look(azimuth: angle, elevation: try look(of: controller.feed).elevation)?.word ?? value
    case .lookElevation:
      return Look(azimuth: try look(of: controller.feed).azimuth, elevation: angle)?.word ?? value
    default: return value
    }
  }

  /// - Parameter effect: of the present value.
  private func perform(_ controller: MIDIMap.Controller, _ effect: (String) -> MIDIEffect) {
    let (what, feed) = ("MIDI \(controller.source), \(controller.targetName)", controller.feed)
    let present: String
    do { present = try self.present(controller) } catch {
      return complain("\(what): \(error)", about: controller.source)
    }
    switch effect(present) {
    case .nothing: break
    case .waits(let value):
      complain(
        "MIDI \(controller.source) stands at \(controller.targetName) \(value) and waits; move it past "
          + "\(present) to take over", about: controller.source)
    case .set(let value):
      let what = what + (value.isEmpty ? "" : " \(value)")
      switch controller.target.action {
      case .change(let key):
        let lane = MIDI.Lane(controller)
        midi.fading.insert(lane)
        let request = request(what, about: controller.source) { [unowned self] in midi.fading.remove(lane) }
        request.attempt { try setFeed(feed, [key.rawValue, word(value, of: controller)], request) }
      case .record:
        // A toggle that repeats its value is no fault.
        guard value != present else { return }
        let request = request(what, about: controller.source)
        request.attempt { try record(value, request) }
      case .mark:
        let request = request(what, about: controller.source)
        request.attempt { try processor.mark("", request) }
      }
    }
  }

  /// - Parameters:
  ///   - what: the beginning of the sentence about a failure, or about a take.
  ///   - source: the control; nil for a program.
  private func request(_ what: String, about source: MIDIMap.Source?, onEnd: @escaping () -> Void = {})
    -> Request
  {
    Request { [unowned self] outcome in
      onEnd()
      switch outcome {
      case .failed(let failure):
        if failure.description != Failure.superseded { complain("\(what): \(failure)", about: source) }
      case .done(let answer as TakeStartAnswer): warn("\(what): the take \(answer.take) begins")
      case .done(let answer as TakeAnswer):
        let seconds = String(format: "%.1f", answer.seconds)
        warn("\(what): the take \(answer.take) has ended after \(seconds) s")
      case .done: break
      }
    }
  }

  private func complain(_ text: String, about source: MIDIMap.Source?) {
    let now = ContinuousClock.now
    if let last = midi.complaints[source], now - last < MIDI.complaintInterval { return }
    midi.complaints[source] = now
    warn(text)
  }

  // MARK: Learning

  /// Answers `request` with the control that is moved next.
  /// - Parameter word: what it shall set; nil for anything.
  func learn(_ word: String?, _ request: Request) throws {
    try processor.refuseOutsideGraph()
    let target = try word.map(MIDIMap.Target.init(word:))
    guard midi.learning.map({ !$0.request.isAskerThere }) ?? true else {
      throw Failure(.failed, "another program is learning a controller; try again when it has ended")
    }
    midi.learning?.request.fail(.failed, "another program has started to learn a controller")
    midi.learning = (request, MIDILearner(target, channel: midi.setup.map.channel, now: .now))
  }

  /// While a program learns, messages change nothing.
  private func learn(from messages: [MIDIMessage]) {
    guard let request = midi.learning?.request else { return }
    let now = ContinuousClock.now
    midi.learning?.learner.hear(messages, at: now)
    guard let learner = midi.learning?.learner else { return }
    let outcome: Outcome
    if !request.isAskerThere {
      outcome = .failed(Failure(.failed, "the program that asked has ended"))
    } else if let finding = learner.finding(at: now) {
      outcome = finding
    } else if now - learner.begun > .seconds(1), midi.sources.isEmpty {
      let port = "\(socket.name):\(ArrayClient.controlName)"
      outcome = .failed(
        Failure(
          .failed,
          "no MIDI device is connected to \(port); connect one, for example with: "
            + JackLibrary.command("jack_connect PORT \(port)")))
    } else if now - learner.begun > MIDILearner.time {
      outcome = .failed(learner.complaint(sources: midiSources))
    } else {
      return
    }
    midi.learning = nil
    request.answer(outcome)
  }

  // MARK: Banks and the controllers' file

  /// Reads the bank and the controllers' file, and uses them from then on.
  /// - Parameter bank: nil for the one that was asked for last, or that of the file.
  func loadMIDI(bank: String?, _ request: Request) throws {
    let bank = bank ?? midi.setup.chosenBank
    try lists.add("the bank", processor.world.midiSetup(bank: bank), request) { [unowned self] setup in
      midi.setup = setup
      midi.inbox = MIDIInbox()
      midi.positions = [:]
      request.answer(.done(midiReport))
    }
  }
}

extension Controller.MIDI: RequestSource {
  /// While MIDI may arrive at any time, the loop polls often, because the callback wakes nobody.
  var patience: Duration? { sources.isEmpty ? nil : .milliseconds(2) }

  func serve(_ controller: Controller) { controller.serveMIDI() }

  func leave(_ reason: String) {
    learning?.request.fail(.notRunning, "Pinna was stopped before a controller was moved")
    learning = nil
  }
}

extension MIDIMap.Target {
  fileprivate enum Action: Equatable {
    case change(SettingKey)
    case record, mark
  }

  fileprivate var action: Action {
    switch self {
    case .setting(let key): .change(key)
    case .lookAzimuth, .lookElevation: .change(.look)
    case .record: .record
    case .marker: .mark
    }
  }
}
