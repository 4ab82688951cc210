import Foundation
import JackClient

/// What happens in the graph without anybody asking for it.
extension Processor {
  /// What was told last of what may change by itself.
  struct SeenGraph: Equatable {
    var period: Int?
    var capturePorts: [String]?
  }

  /// Some twenty times a second, however often it is called.
  func pollGraph() {
    guard let client, state.isInGraph else {
      if !settling.isEmpty { answerSettled(upTo: nil) }
      if !warnings.current.isEmpty { _ = warnings.update([], now: world.now) }
      return
    }
    for news in client.takeNews() { hear(news) }
    if !settling.isEmpty { answerSettled(upTo: graph.look) }
    guard world.now >= nextLook else { return }
    nextLook = world.now + .milliseconds(45)
    watch(client)
    _ = client.look(inForce)
    let readings = client.readings
    watchPeriod(readings.period)
    watchInputs(readings)
  }

  /// A change is in force: whoever asked hears of it when ports and connections are as it wants them, too.
  func answer(_ request: Request, changeFrom old: Setting) {
    let report = ChangeReport(inForce)
    guard let client, old.device != inForce.device || old.output != inForce.output else {
      return request.answer(.done(report))
    }
    settling.append((request, report, client.look(inForce), world.now + .seconds(1)))
  }

  /// - Parameter look: the last one that has ended; nil where none will.
  func answerSettled(upTo look: Int?) {
    let done = settling.filter { look == nil || $0.look <= look! || isOver($0.deadline) }
    settling.removeAll { look == nil || $0.look <= look! || isOver($0.deadline) }
    for change in done { change.request.answer(.done(change.report)) }
  }

  /// Ports or connections came or went.
  package func graphChanged() { nextLook = world.now }

  private func watch(_ client: any AudioClient) {
    switch watchdog.observe(periods: client.periodsRun, now: world.now) {
    case .stalled:
      let sentence = "the JACK server runs no periods: nothing is heard or recorded until it does"
      warn(sentence)
      state.take?.take.note("the JACK server ran no periods from here on")
      notify(EngineEvent(.serverStalled, sentence))
    case .resumed(let stood):
      let sentence = "the JACK server runs periods again, after \(stood.formatted)"
      warn(sentence)
      state.take?.take.note(sentence)
      notify(EngineEvent(.serverResumed, sentence))
    case nil: break
    }
  }

  private func hear(_ news: GraphNews) {
    graph = news
    var restored: [String] = []
    for event in news.events {
      switch event {
      case .lost(let wire):
        state.take?.take.note("\(wire.port) has lost \(wire.peer)")
        bereftPorts.insert(wire.port)
        warn("\(wire.port) has lost \(wire.peer); it is connected again when that is back")
        notify(EngineEvent(.portGone, "\(wire.port) has lost \(wire.peer)"))
      case .restored(let wire):
        state.take?.take.note("\(wire.port) is connected to \(wire.peer) again")
        bereftPorts.remove(wire.port)
        restored.append("\(wire.port) to \(wire.peer)")
        notify(EngineEvent(.portBack, "\(wire.port) is connected to \(wire.peer) again"))
      }
    }
    if !restored.isEmpty { warn("connected again: \(restored.sorted().joined(separator: ", "))") }
    if let target = news.newTarget {
      notify(
        EngineEvent(
          .outputChanged,
          target.isEmpty
            ? "the outputs are connected to no port" : "sound goes out to \(target.joined(separator: ", "))"))
    }
    if let old = seen.capturePorts, old != news.capturePorts {
      notify(
        EngineEvent(
          .inputsChanged,
          "there are now \(news.capturePorts.count) physical capture ports, it was \(old.count)"))
    }
    seen.capturePorts = news.capturePorts
  }

  private func watchPeriod(_ now: Int) {
    if let old = seen.period, old != now {
      notify(EngineEvent(.periodChanged, "the period is now \(now) frames, it was \(old)"))
    }
    seen.period = now
  }

  func tellOfChange(from old: Setting, to new: Setting) {
    if old.device != new.device {
      notify(EngineEvent(.inputChanged, "the input is now \(new.device.uid), it was \(old.device.uid)"))
    } else if old.selection != new.selection {
      let s = new.selection
      notify(
        EngineEvent(
          .selectionChanged,
          "\(s.dataSource), \(s.polarPattern.rawValue), \(s.inputOrientation.rawValue) is in force"))
    }
  }

  /// Asks the server for the power of two of frames that is nearest to `seconds`; the answer is what it runs with then.
  package func requestPeriod(seconds: Double, _ request: Request) throws {
    let client = try clientInGraph()
    try refuseDuringTake()
    try refuseDuringFadeOut()
    guard periodRequests.count < 8 else {
      throw Failure(
        .failed, "the JACK server has not answered earlier requests for a period; try again when it does")
    }
    let exponent = log2(seconds * Double(client.sampleRate)).rounded()
    let job = client.requestPeriod(1 << Int(min(max(exponent, 4), 12)))
    periodRequests.append((job, request, world.now + .seconds(5)))
  }

  /// Nothing more comes from the server that was asked.
  func failPeriodRequests(_ status: ExitStatus, _ sentence: String) {
    let waiting = periodRequests.map(\.request)
    periodRequests = []
    for request in waiting { request.fail(status, sentence) }
  }

  func pollPeriodRequests() {
    for n in periodRequests.indices.reversed() {
      let waiting = periodRequests[n]
      switch waiting.job.result {
      case .success(let period): waiting.request.answer(.done(["period": period]))
      case .failure(let failure): waiting.request.answer(.failed(failure))
      case nil where isOver(waiting.deadline):
        waiting.job.abandon()
        waiting.request.fail(.failed, "the JACK server does not answer; try again when it does")
      case nil: continue
      }
      periodRequests.remove(at: n)
    }
  }
}

extension Duration {
  /// "3.2 s"
  var formatted: String { "\((self / .milliseconds(100)).rounded() / 10) s" }
}
