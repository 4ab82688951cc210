import JackClient
import TestSupport
import Testing

@Suite("The wiring of our ports") struct WiringTests {
  let wire = Wiring.Wire("front", "source:out")
  let start = ContinuousClock.now
  var wiring: Wiring

  init() {
    wiring = Wiring()
    _ = wiring.observe(connected: [wire], ports: ["front"], exists: { _ in true }, now: start)
  }

  /// Looks at a graph some milliseconds after the start.
  mutating func look(
    connected: Bool, peer: Bool, after milliseconds: Int, ports: Set<String> = ["front"]
  ) -> (events: [Wiring.Event], toMake: [Wiring.Wire]) {
    wiring.observe(
      connected: connected ? [wire] : [], ports: ports, exists: { _ in peer },
      now: start + .milliseconds(milliseconds))
  }

  @Test("is lost with its other end, made when that is back, and tried again until it is")
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

  @Test("is forgotten when somebody takes it away, and not before it is clear that the other end stays")
  mutating func takenAway() {
    for n in [1, 100, 199] {
      let (events, toMake) = look(connected: false, peer: true, after: n)
      #expect(events.isEmpty && toMake.isEmpty)
    }
    _ = look(connected: false, peer: true, after: 250)
    // From then on its other end may come and go.
    #expect(look(connected: false, peer: false, after: 300).events.isEmpty)
    #expect(look(connected: false, peer: true, after: 400).toMake.isEmpty)
  }

  @Test("is lost, not taken away, where the other end goes a moment after the connection")
  mutating func goesLater() {
    #expect(look(connected: false, peer: true, after: 1).events.isEmpty)
    #expect(look(connected: false, peer: false, after: 20).events == [.lost(wire)])
    #expect(look(connected: false, peer: true, after: 500).toMake == [wire])
  }

  @Test(
    "goes with the server, or with our own port, and is made again when that is back; nobody is told of the latter"
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

@Suite("Peers with one-time names") struct OneTimeNameTests {
  let start = ContinuousClock.now

  /// Connects `peer` to `port`, and takes it away with its program.
  func visit(_ wiring: inout Wiring, _ port: String, _ peer: String, beside: Set<Wiring.Wire> = []) {
    let wire = Wiring.Wire(port, peer)
    let ports: Set = ["front", "back", "top", "out_left", "out_right"]
    _ = wiring.observe(connected: beside.union([wire]), ports: ports, exists: { _ in true }, now: start)
    _ = wiring.observe(connected: beside, ports: ports, exists: { _ in false }, now: start)
  }

  @Test("R45: 10 000 clients with one-time names come and go: what is remembered of them is bounded")
  func bounded() {
    var wiring = Wiring()
    let took = ContinuousClock().measure {
      for n in 0..<10_000 {
        visit(&wiring, ["front", "back", "top", "out_left", "out_right"][n % 5], "once-\(n):out")
      }
    }
    #expect(wiring.lost.count == Wiring.maxAbsent)
    // The last to go are remembered.
    #expect(wiring.lost.contains(Wiring.Wire("out_right", "once-9999:out")))
    #expect(!wiring.lost.contains(Wiring.Wire("front", "once-5000:out")))
    Faults.report(
      "R45", done: "10 000 peers with one-time names: connections that are remembered",
      measured: "\(wiring.lost.count), 20 000 looks in \(Int(took / .milliseconds(1))) ms",
      limit: "≤ \(Wiring.maxAbsent)",
      kept: wiring.lost.count <= Wiring.maxAbsent)
  }

  @Test("R45: of one port 64 are remembered, and another port's none the less")
  func perPort() {
    var wiring = Wiring()
    visit(&wiring, "back", "old:out")
    for n in 0..<1000 { visit(&wiring, "front", "once-\(n):out") }
    let lost = wiring.lost
    #expect(lost.count { $0.port == "front" } == Wiring.maxAbsentPerPort)
    #expect(lost.contains(Wiring.Wire("back", "old:out")))
    #expect(
      lost.contains(Wiring.Wire("front", "once-999:out"))
        && !lost.contains(Wiring.Wire("front", "once-0:out")))
  }

  @Test("R45: what was asked for is remembered longest, and is made again")
  func askedFor() {
    var wiring = Wiring()
    let asked = Wiring.Wire("front", "system:capture_1")
    wiring.keep([asked])
    visit(&wiring, "front", "system:capture_1")
    for n in 0..<1000 {
      wiring.keep([asked])
      visit(&wiring, "front", "once-\(n):out")
    }
    #expect(wiring.lost.contains(asked))
    let (_, toMake) = wiring.observe(
      connected: [], ports: ["front"], exists: { $0 == asked.peer }, now: start)
    #expect(toMake == [asked])
    wiring.forget(asked)
    #expect(!wiring.lost.contains(asked))
  }

  @Test(
    "R45: connections that are there are no part of the bound; with the server go as many as it allows, asked for first"
  )
  func wholeServer() {
    var wiring = Wiring()
    let many = Set((0..<500).map { Wiring.Wire("out_left", "peer-\($0):in") })
    wiring.keep([Wiring.Wire("out_left", "peer-7:in")])
    _ = wiring.observe(connected: many, ports: ["out_left"], exists: { _ in true }, now: start)
    visit(&wiring, "front", "once:out", beside: many)
    #expect(wiring.connectedPorts == ["out_left"] && wiring.lost.count == 1)
    wiring.markAllLost()
    #expect(wiring.lost.count == Wiring.maxAbsentPerPort + 1)
    #expect(wiring.lost.contains(Wiring.Wire("out_left", "peer-7:in")))
  }

  @Test("R45: a look costs no more after 10 000 peers than after 1 000")
  func cost() {
    /// In processor time: other programs use the machine, too.
    func look(after peers: Int) -> Duration {
      var wiring = Wiring()
      for n in 0..<peers { visit(&wiring, ["front", "back", "top", "out_left"][n % 4], "once-\(n):out") }
      return threadTime {
        for _ in 0..<400 {
          _ = wiring.observe(connected: [], ports: ["front"], exists: { _ in false }, now: start)
        }
      } / 400
    }
    let (few, many) = (look(after: 1000), look(after: 10_000))
    // Twenty looks a second: 0.5 ms each would be a hundredth of a core.
    #expect(many < .microseconds(500), "\(many)")
    Faults.report(
      "R45", done: "one look at connections after 1 000 and after 10 000 peers", measured: "\(few), \(many)",
      limit: "≤ 500 µs", kept: many < .microseconds(500))
  }
}
