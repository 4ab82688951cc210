import Glibc
import JackClient
import Messages
import Presets
import Processor
import Text

/// MIDI: program changes choose presets of the bank, controllers change what their file says. MIDI has no way to answer,
/// so failures are written to the operator's terminal, and so are takes that begin and end.
extension Controller {
  /// The state of MIDI. A class, because answers arrive while an event is acted upon.
  final class MIDI {
    var setup: MIDISetup
    var inbox = MIDIInbox()
    /// Whether a change that a controller made is still fading in. Its next value waits, so that a moving fader makes
    /// one crossfade after another instead of superseding itself.
    var isFading = false
    /// A request for the next controller that is moved.
    var learner: (request: Request, begun: ContinuousClock.Instant)?
    /// When the last failure of each controller was written, and of programs (nil). The next one is written after
    /// `complaintInterval`: a fader that moves during a take must not fill the terminal.
    var complaints: [Int?: ContinuousClock.Instant] = [:]

    init(setup: MIDISetup) { self.setup = setup }

    static let learnTime = Duration.seconds(20)
    static let complaintInterval = Duration.seconds(5)
  }

  /// Full names of the ports that send MIDI to Pinna.
  private var midiSources: [String] {
    guard processor.state.isInGraph else { return [] }
    return (processor.graph.connections[ArrayClient.controlName] ?? []).sorted()
  }

  /// Whether MIDI may arrive at any time: then the loop polls often, because the callback wakes nobody.
  var isMIDIConnected: Bool { !midiSources.isEmpty }

  var midiReport: MIDIReport { MIDIReport(midi.setup, sources: midiSources) }

  func serveMIDI() {
    let messages = processor.client?.drainMIDI() ?? []
    if midi.learner != nil { return learn(from: messages) }
    midi.inbox.add(messages, midi.setup.map)
    while let event = midi.inbox.pop(where: isFree) { act(on: event) }
  }

  /// Program changes and takes never wait; changes by controllers follow each other, and presets that are being read.
  private func isFree(_ event: MIDIInbox.Event) -> Bool {
    if case .controller(let controller, _) = event, controller.target != .record {
      return !midi.isFading && reads.isEmpty
    }
    return true
  }

  private func act(on event: MIDIInbox.Event) {
    switch event {
    case .program(let program):
      let bank = midi.setup.bank
      guard bank.presets.indices.contains(program) else {
        let name = bank.name.map { "the bank \($0)" } ?? "the bank of all presets"
        return complain(
          "MIDI program \(program + 1): \(name) has \(bank.presets.count) presets; send a program from 1 to "
            + "\(bank.presets.count), or choose another bank with: pinna bank use NAME", about: nil)
      }
      let request = request("MIDI program \(program + 1)", about: nil)
      request.attempt { try change([.preset(bank.presets[program])], of: nil, request) }
    case .controller(let controller, let wire):
      let value = controller.value(at: wire, dataSources: processor.inForce.device.dataSources.map(\.name))
      let what = "MIDI controller \(controller.number), \(controller.target.rawValue) \(value)"
      guard let key = controller.target.key else {
        // A toggle that repeats its value is no fault.
        guard (value == "on") != (processor.state.take != nil) else { return }
        let request = request(what, about: controller.number)
        return request.attempt { try record(value, request) }
      }
      midi.isFading = true
      let request = request(what, about: controller.number) { [unowned self] in midi.isFading = false }
      request.attempt { try change([Change(key, value)], of: nil, request) }
    }
  }

  /// - Parameters:
  ///   - what: the beginning of the sentence about a failure, or about a take.
  ///   - controller: the number of the controller; nil for a program.
  private func request(_ what: String, about controller: Int?, onEnd: @escaping () -> Void = {}) -> Request {
    Request { [unowned self] outcome in
      onEnd()
      switch outcome {
      case .failed(let failure):
        if failure.description != Processor.superseded { complain("\(what): \(failure)", about: controller) }
      case .done(let answer as TakeStartAnswer): warn("\(what): the take \(answer.take) begins")
      case .done(let answer as TakeAnswer):
        let seconds = String(format: "%.1f", answer.seconds)
        warn("\(what): the take \(answer.take) has ended after \(seconds) s")
      case .done: break
      }
    }
  }

  private func complain(_ text: String, about controller: Int?) {
    let now = ContinuousClock.now
    if let last = midi.complaints[controller], now - last < MIDI.complaintInterval { return }
    midi.complaints[controller] = now
    warn(text)
  }

  // MARK: Learning

  /// Answers `request` with the next controller that is moved.
  func learn(_ request: Request) throws {
    try processor.refuseOutsideGraph()
    guard midi.learner.map({ !$0.request.isAskerThere }) ?? true else {
      throw Failure(.failed, "another program is learning a controller; try again when it has ended")
    }
    midi.learner?.request.fail(.failed, "another program learns now")
    midi.learner = (request, .now)
  }

  /// While somebody learns, messages change nothing.
  private func learn(from messages: [MIDIMessage]) {
    guard let (request, begun) = midi.learner else { return }
    for message in messages {
      guard case .controlChange(let channel, let controller, _) = message,
        midi.setup.map.listens(to: channel), MIDIMap.Controller.isMovable(controller)
      else { continue }
      midi.learner = nil
      return request.answer(.done(LearnAnswer(channel: channel, controller: controller)))
    }
    let waited = ContinuousClock.now - begun
    if !request.isAskerThere {
      midi.learner = nil
      request.fail(.failed, "nobody waits for it any more")
    } else if waited > .seconds(1), !isMIDIConnected {
      midi.learner = nil
      let port = "\(socket.name):\(ArrayClient.controlName)"
      request.fail(
        .failed,
        "no MIDI device is connected to \(port); connect one, for example with: jack_connect PORT \(port)")
    } else if waited > MIDI.learnTime {
      midi.learner = nil
      let channel = midi.setup.map.channel.map { " on channel \($0)" } ?? ""
      request.fail(
        .failed,
        "no controller was moved\(channel) within 20 s at \(midiSources.joined(separator: ", ")); try again")
    }
  }

  /// Ends learning, because Pinna is stopping.
  func endMIDI() {
    midi.learner?.request.fail(.notRunning, "Pinna was stopped before a controller was moved")
    midi.learner = nil
  }

  // MARK: Banks and the controllers' file

  /// Reads the bank and the controllers' file, and uses them from then on.
  /// - Parameter bank: nil for the one that was asked for last, or that of the file.
  func loadMIDI(bank: String?, _ request: Request) throws {
    let bank = bank ?? midi.setup.chosenBank
    try lists.add("the bank", processor.world.midiSetup(bank: bank), request) { [unowned self] setup in
      midi.setup = setup
      midi.inbox = MIDIInbox()
      request.answer(.done(midiReport))
    }
  }
}

extension MIDIMap.Target {
  /// What it changes; nil if it starts and ends takes.
  fileprivate var key: Change.Key? {
    switch self {
    case .gain: .gain
    case .mute: .mute
    case .orientation: .orientation
    case .pattern: .pattern
    case .dataSource: .dataSource
    case .highPass: .highPass
    case .record: nil
    }
  }
}
