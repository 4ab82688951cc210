import JackClient
import TestSupport
import Testing

@Suite("Connections of Pinna's ports") struct WiringTests {
  let wire = Wiring.Wire("front", "source:out")
  let start = ContinuousClock.now
  var wiring: Wiring

  init() {
    wiring = Wiring()
    _ = wiring.observe(connected: [wire], ports: ["front"], exists: { _ in true }, now: start)
  }

  /// Looks at the graph `milliseconds` after the start.
  mutating func look(
    connected: Bool, peer: Bool, after milliseconds: Int, ports: Set<String> = ["front"]
  ) -> (events: [Wiring.Event], toMake: [Wiring.Wire]) {
    wiring.observe(
      connected: connected ? [wire] : [], ports: ports, exists: { _ in peer },
      now: start + .milliseconds(milliseconds))
  }

  @Test(
    "a connection whose other end disappears is lost, and is retried from the peer's return until it is made")
  mutating func lostAndMade() {
    #expect(look(connected: false, peer: false, after: 1).events == [.lost(wire)])
    #expect(wiring.lost == [wire] && wiring.connectedPorts.isEmpty)
    for n in 2..<5 {
      let (events, toMake) = look(connected: false, peer: false, after: n)
      #expect(events.isEmpty && toMake.isEmpty)
    }
    for n in 5..<8 { #expect(look(connected: false, peer: true, after: 10_000 * n).toMake == [wire]) }
    #expect(look(connected: true, peer: true, after: 90_000).events == [.restored(wire)])
    #expect(wiring.lost.isEmpty && wiring.connectedPorts == ["front"])
  }

  @Test("a connection that the user removed is forgotten, once it is clear that the other end stays")
  mutating func takenAway() {
    for n in [1, 100, 199] {
      let (events, toMake) = look(connected: false, peer: true, after: n)
      #expect(events.isEmpty && toMake.isEmpty)
    }
    _ = look(connected: false, peer: true, after: 250)
    // From then on, its other end may come and go.
    #expect(look(connected: false, peer: false, after: 300).events.isEmpty)
    #expect(look(connected: false, peer: true, after: 400).toMake.isEmpty)
  }

  @Test(
    "on PipeWire, a connection that disappears within 300 ms after Pinna made it, or after it came back, is made once more, then forgotten",
    arguments: [true, false])
  mutating func new(isRestored: Bool) {
    wiring = Wiring(isPipeWire: true)
    if isRestored {
      wiring.restore([wire])
      #expect(look(connected: false, peer: true, after: 0).toMake == [wire])
      #expect(look(connected: true, peer: true, after: 0).events == [.restored(wire)])
    } else {
      wiring.hasMade(wire, now: start)
    }
    #expect(look(connected: true, peer: true, after: 10).toMake.isEmpty)
    #expect(look(connected: false, peer: true, after: 250).toMake == [wire])
    #expect(look(connected: true, peer: true, after: 251).toMake.isEmpty)
    for n in [260, 461] { #expect(look(connected: false, peer: true, after: n).toMake.isEmpty) }
    #expect(!wiring.remembers(wire))
  }

  @Test("a connection that is not new, or under jackd, stays removed", arguments: [true, false])
  mutating func old(isPipeWire: Bool) {
    wiring = Wiring(isPipeWire: isPipeWire)
    wiring.hasMade(wire, now: start)
    let removed = isPipeWire ? 310 : 10
    for n in [removed, removed + 201] { #expect(look(connected: false, peer: true, after: n).toMake.isEmpty) }
    #expect(!wiring.remembers(wire))
  }

  @Test(
    "a connection whose other end is replaced at once by a port of its name is made again",
    arguments: [1, 30])
  mutating func replaced(after milliseconds: Int) {
    // The new port is heard of at once, or a moment later.
    if milliseconds > 1 { #expect(look(connected: false, peer: true, after: 1).events.isEmpty) }
    let (events, toMake) = wiring.observe(
      connected: [], ports: ["front"], newPorts: [wire.peer], exists: { _ in true },
      now: start + .milliseconds(milliseconds))
    #expect(events == [.lost(wire)] && toMake == [wire])
    #expect(look(connected: true, peer: true, after: 50).events == [.restored(wire)])
  }

  @Test("R37: a recorder that restarts at once is not connected again")
  mutating func recorderRestarts() {
    let output = Wiring.Wire("out_left", "recorder:in")
    for isConnected in [true, false] {
      let (_, toMake) = wiring.observe(
        connected: isConnected ? [output] : [], ports: ["out_left"],
        newPorts: isConnected ? [] : [output.peer],
        exists: { _ in true }, now: start + .milliseconds(isConnected ? 1 : 50))
      #expect(toMake.isEmpty)
    }
    #expect(!wiring.remembers(output))
  }

  @Test("a connection is lost, not removed by the user, if its other end disappears a moment later")
  mutating func goesLater() {
    #expect(look(connected: false, peer: true, after: 1).events.isEmpty)
    #expect(look(connected: false, peer: false, after: 20).events == [.lost(wire)])
    #expect(look(connected: false, peer: true, after: 500).toMake == [wire])
  }

  @Test(
    "a connection lost with the server or our own port is made again on its return; only the former is reported"
  )
  mutating func server() {
    wiring.markAllLost()
    #expect(wiring.lost == [wire])
    #expect(look(connected: false, peer: true, after: 1).toMake == [wire])
    #expect(look(connected: true, peer: true, after: 2).events == [.restored(wire)])
    let (events, toMake) = look(connected: false, peer: true, after: 3, ports: ["top"])
    #expect(events.isEmpty && toMake.isEmpty && wiring.lost.isEmpty)
    #expect(look(connected: false, peer: true, after: 4).toMake == [wire])
    #expect(look(connected: true, peer: true, after: 5).events.isEmpty)
  }
}

@Suite("Connections of the outputs to other people's programs") struct OutputWiringTests {
  static let recorder = Wiring.Wire("out_left", "recorder:in_1")
  static let monitor = Wiring.Wire("out_left", "system:playback_1")
  static let microphone = Wiring.Wire("front", "source:out")
  let start = ContinuousClock.now

  /// Looks at a graph in which the wires of `made` exist, and the peers in `peers`.
  func look(
    _ wiring: inout Wiring, _ made: Set<Wiring.Wire>, peers: Set<Wiring.Wire>, after seconds: Int = 0
  ) -> (events: [Wiring.Event], toMake: [Wiring.Wire]) {
    let names = Set(peers.map(\.peer))
    return wiring.observe(
      connected: made, ports: ["front", "out_left"], exists: names.contains, now: start + .seconds(seconds))
  }

  func connected(keepsOutputs: Bool = false) -> Wiring {
    var wiring = Wiring(keepsOutputs: keepsOutputs)
    wiring.keep([Self.monitor])
    let all: Set = [Self.recorder, Self.monitor, Self.microphone]
    _ = look(&wiring, all, peers: all)
    return wiring
  }

  @Test("R37: a recorder that quits is forgotten; a declared monitor and a microphone's source are not")
  func quits() {
    var wiring = connected()
    let (events, _) = look(&wiring, [], peers: [], after: 1)
    #expect(
      Set(events) == [.forgotten(Self.recorder), .lost(Self.monitor), .lost(Self.microphone)], "\(events)")
    let all: Set = [Self.recorder, Self.monitor, Self.microphone]
    #expect(Set(look(&wiring, [], peers: all, after: 2).toMake) == [Self.monitor, Self.microphone])
  }

  @Test("R37: where asked to keep connections, a recorder that quits is connected again, too")
  func kept() {
    var wiring = connected(keepsOutputs: true)
    _ = look(&wiring, [], peers: [], after: 1)
    #expect(look(&wiring, [], peers: [Self.recorder], after: 900).toMake == [Self.recorder])
  }

  @Test("R37: after the server's restart a recorder is connected again for two minutes, then no more")
  func server() {
    for (seconds, isMade) in [(119, true), (121, false)] {
      var wiring = connected()
      wiring.markAllLost()
      _ = look(&wiring, [], peers: [], after: 1000)
      let all: Set = [Self.recorder, Self.monitor, Self.microphone]
      _ = look(&wiring, [], peers: [], after: 1000 + seconds)
      let toMake = Set(look(&wiring, [], peers: all, after: 1000 + seconds).toMake)
      #expect(toMake == (isMade ? all : [Self.monitor, Self.microphone]), "\(seconds) s: \(toMake)")
    }
  }

  @Test("R37: the next run restores what others connected, and leaves to the user what a run declares")
  func nextRun() {
    let last = connected().restorable
    #expect(last == [Self.microphone, Self.recorder].sorted())
    var wiring = Wiring()
    wiring.restore(last)
    let all: Set = [Self.recorder, Self.monitor, Self.microphone]
    #expect(Set(look(&wiring, [], peers: all).toMake) == [Self.microphone, Self.recorder])
    let made: Set = [Self.microphone, Self.recorder]
    _ = look(&wiring, made, peers: all, after: 1)
    // It has been there: from now on it is as any other.
    #expect(
      look(&wiring, [Self.microphone], peers: made.subtracting([Self.recorder]), after: 2).events
        == [.forgotten(Self.recorder)])
  }

  @Test("what is not there is forgotten on request; what is stays")
  func forget() {
    var wiring = connected()
    _ = look(&wiring, [Self.recorder], peers: [Self.recorder], after: 1)
    #expect(wiring.forgetAbsent() == 2 && wiring.connectedPorts == ["out_left"] && wiring.lost.isEmpty)
    let all: Set = [Self.recorder, Self.monitor, Self.microphone]
    #expect(look(&wiring, [Self.recorder], peers: all, after: 2).toMake.isEmpty)
  }
}

@Suite("Peers with one-time names") struct OneTimeNameTests {
  let start = ContinuousClock.now

  /// Connects `peer` to `port`, then removes it together with its program.
  func visit(_ wiring: inout Wiring, _ port: String, _ peer: String, beside: Set<Wiring.Wire> = []) {
    let wire = Wiring.Wire(port, peer)
    let ports: Set = ["front", "back", "top", "out_left", "out_right"]
    _ = wiring.observe(connected: beside.union([wire]), ports: ports, exists: { _ in true }, now: start)
    _ = wiring.observe(connected: beside, ports: ports, exists: { _ in false }, now: start)
  }

  @Test("R45: the memory of connections to 10 000 one-time clients is bounded")
  func bounded() {
    var wiring = Wiring(keepsOutputs: true)
    let took = ContinuousClock().measure {
      for n in 0..<10_000 {
        visit(&wiring, ["front", "back", "top", "out_left", "out_right"][n % 5], "once-\(n):out")
      }
    }
    #expect(wiring.lost.count == Wiring.maxAbsent)
    // The latest are remembered.
    #expect(wiring.lost.contains(Wiring.Wire("out_right", "once-9999:out")))
    #expect(!wiring.lost.contains(Wiring.Wire("front", "once-5000:out")))
    Faults.report(
      "R45", done: "10 000 peers with one-time names: connections that are remembered",
      measured: "\(wiring.lost.count), 20 000 looks in \(Int(took / .milliseconds(1))) ms",
      limit: "≤ \(Wiring.maxAbsent)",
      kept: wiring.lost.count <= Wiring.maxAbsent)
  }

  @Test("R45: 64 lost connections are remembered per port, without displacing another port's")
  func perPort() {
    var wiring = Wiring(keepsOutputs: true)
    visit(&wiring, "back", "old:out")
    for n in 0..<1000 { visit(&wiring, "front", "once-\(n):out") }
    let lost = wiring.lost
    #expect(lost.count { $0.port == "front" } == Wiring.maxAbsentPerPort)
    #expect(lost.contains(Wiring.Wire("back", "old:out")))
    #expect(
      lost.contains(Wiring.Wire("front", "once-999:out"))
        && !lost.contains(Wiring.Wire("front", "once-0:out")))
  }

  @Test("R45: requested connections are remembered longest and are made again")
  func askedFor() {
    var wiring = Wiring(keepsOutputs: true)
    let requested = Wiring.Wire("front", "system:capture_1")
    wiring.keep([requested])
    visit(&wiring, "front", "system:capture_1")
    for n in 0..<1000 {
      wiring.keep([requested])
      visit(&wiring, "front", "once-\(n):out")
    }
    #expect(wiring.lost.contains(requested))
    let (_, toMake) = wiring.observe(
      connected: [], ports: ["front"], exists: { $0 == requested.peer }, now: start)
    #expect(toMake == [requested])
    wiring.forget(requested)
    #expect(!wiring.lost.contains(requested))
  }

  @Test(
    "R45: existing connections do not count; a lost server's are kept up to the limit, requested ones first"
  )
  func wholeServer() {
    var wiring = Wiring(keepsOutputs: true)
    let many = Set((0..<500).map { Wiring.Wire("out_left", "peer-\($0):in") })
    wiring.keep([Wiring.Wire("out_left", "peer-7:in")])
    _ = wiring.observe(connected: many, ports: ["out_left"], exists: { _ in true }, now: start)
    visit(&wiring, "front", "once:out", beside: many)
    #expect(wiring.connectedPorts == ["out_left"] && wiring.lost.count == 1)
    wiring.markAllLost()
    #expect(wiring.lost.count == Wiring.maxAbsentPerPort + 1)
    #expect(wiring.lost.contains(Wiring.Wire("out_left", "peer-7:in")))
  }

  @Test("R45: a look at the graph costs no more after 10 000 peers than after 1 000")
  func cost() {
    /// In processor time, because other programs use the machine, too.
    func look(after peers: Int) -> Duration {
      var wiring = Wiring(keepsOutputs: true)
      for n in 0..<peers { visit(&wiring, ["front", "back", "top", "out_left"][n % 4], "once-\(n):out") }
      return threadTime {
        for _ in 0..<400 {
          _ = wiring.observe(connected: [], ports: ["front"], exists: { _ in false }, now: start)
        }
      } / 400
    }
    let (few, many) = (look(after: 1000), look(after: 10_000))
    // Twenty looks per second: 0.5 ms each would be a hundredth of a core.
    #expect(many < .microseconds(500), "\(many)")
    Faults.report(
      "R45", done: "one look at connections after 1 000 and after 10 000 peers", measured: "\(few), \(many)",
      limit: "≤ 500 µs", kept: many < .microseconds(500))
  }

  @Test("a connection whose peer goes before the graph is observed is lost, and made when the peer is back")
  func madeAndGone() {
    var wiring = Wiring()
    let wire = Wiring.Wire("out_left", "monitor:1")
    wiring.hasMade(wire, now: .now)
    wiring.keep([wire])
    func observe(exists: Bool) -> (events: [Wiring.Event], toMake: [Wiring.Wire]) {
      wiring.observe(connected: [], ports: ["out_left"], exists: { _ in exists }, now: .now)
    }
    #expect(observe(exists: false).events == [.lost(wire)])
    #expect(observe(exists: true).toMake == [wire])
  }
}
