import Acoustics
import Messages
import Processor
import Settings
import Testing

extension Rig.SentRequest {
  fileprivate var feedAnswer: FeedAnswer? {
    if case .done(let document) = outcome { document as? FeedAnswer } else { nil }
  }
}

@Suite("Requests for feeds") struct FeedRequestTests {
  /// Lets the client do what the processor asks of it.
  private func settle(_ rig: Rig) {
    for _ in 0..<6 {
      rig.world.client?.endFeedJob()
      rig.run(periods: 3)
    }
  }

  private func add(_ rig: Rig, _ name: String, _ words: [String] = []) -> Rig.SentRequest {
    rig.ask("feed add") { try $0.addFeed(name, FeedWords(words[...]), $1) }
  }

  @Test("a feed is added, changed and removed; each request is answered when that is heard")
  func life() throws {
    let rig = Rig.live()
    let added = add(rig, "anna", ["pattern", "cardioid", "gain", "-3"])
    #expect(added.outcome == nil)
    settle(rig)
    let report = try #require(added.feedAnswer)
    #expect(report.feed?.isHeard == true && report.feed?.outputs.map(\.name) == ["anna"])
    #expect(rig.world.client?.audibleFeeds["anna"]?.selection.polarPattern == .cardioid)
    let changed = rig.ask("set") { try $0.setFeed("anna", FeedWords(["gain", "-9"]), $1) }
    #expect(changed.outcome == nil)
    settle(rig)
    #expect(changed.feedAnswer?.feed?.gain.value == -9)
    #expect(rig.world.client?.audibleFeeds["anna"]?.gain.value == -9)
    let removed = rig.ask("remove") { try $0.removeFeed("anna", $1) }
    settle(rig)
    #expect(removed.feedAnswer?.removed == "anna")
    #expect(rig.world.client?.audibleFeeds.isEmpty == true)
  }

  @Test(
    "a name that is taken, reserved, or that of a port is refused before anything happens",
    arguments: ["main", "all", "Microphones", "one", "out_left", "control", "ANNA", "-x", "", "a b"])
  func names(name: String) {
    let rig = Rig.live()
    _ = add(rig, "anna")
    settle(rig)
    let refused = add(rig, name)
    #expect(refused.outcome?.status == .usage)
    #expect(rig.world.client?.feedJobs.isEmpty == true)
    #expect(rig.processor.wanted.others.map(\.name) == ["anna"])
  }

  @Test(
    "what is no setting of a feed, or that the device does not offer, is refused",
    arguments: [
      ["input", "b"], ["listen", "one"], ["output", "none"], ["pattern", "stereo"], ["order", "5"],
      ["format", "quad"], ["format", "stereo", "order", "1"], ["gain", "99"], ["data-source", "Back"],
      ["format", "ambix", "pattern", "cardioid"], ["order", "1", "pattern", "cardioid"],
      ["format", "stereo", "pattern", "cardioid"], ["format", "mono", "pattern", "stereo"],
    ])
  func words(words: [String]) {
    let rig = Rig.live()
    let refused = add(rig, "anna", words)
    #expect(refused.outcome != nil && refused.outcome?.status != .done)
    #expect(rig.processor.wanted.others.isEmpty && rig.world.client?.feedJobs.isEmpty == true)
  }

  @Test(
    "each value of a feed, and of main, is found by its name; one that is nowhere is told in one sentence")
  func values() throws {
    let rig = Rig.live()
    let none = #expect(throws: Failure.self) { try rig.processor.wanted.value(of: .gain, feed: "anna") }
    #expect(none?.description.hasPrefix("there is no feed \"anna\" besides main; add one with") == true)
    _ = add(rig, "anna", ["pattern", "cardioid", "gain", "-3", "high-pass", "80", "mute", "on"])
    settle(rig)
    func words(_ feed: String) throws -> [String] {
      try [SettingKey.dataSource, .pattern, .orientation, .gain, .highPass, .mute].map {
        try rig.processor.wanted.value(of: $0, feed: feed).word
      }
    }
    #expect(try words("anna") == ["Front", "cardioid", "portrait", "-3", "80", "on"])
    #expect(try words("Main") == ["Front", "omnidirectional", "portrait", "0", "off", "off"])
    #expect(throws: UnknownWord.self) { try rig.processor.wanted.value(of: .gain, feed: "ben") }
    for key in [SettingKey.input, .output, .listen, .seat] {
      #expect(throws: Failure.self) { try rig.processor.wanted.value(of: key, feed: "anna") }
      #expect(throws: Never.self) { try rig.processor.wanted.value(of: key, feed: "main") }
    }
  }

  @Test(
    "the message that sets a value of a feed, or of main, is one of the methods",
    arguments: SettingKey.allCases)
  func messages(key: SettingKey) throws {
    let main = OSCMessage(set: key, of: "main", to: "1")
    #expect(OSCMethod.at(main.withFeedAsArgument.path)?.action == .setOne(key) && main.words == ["1"])
    let anna = OSCMessage(set: key, of: "anna", to: "1").withFeedAsArgument
    #expect(OSCMethod.at(anna.path)?.action == .feedSet && anna.words == ["anna", key.rawValue, "1"])
  }

  @Test("one message says all that can be said of a feed", arguments: ["add", "set"])
  func everything(verb: String) throws {
    let method = try #require(OSCMethod.at("/pinna/feed/\(verb)"))
    let words = ["anna"] + (["format", "order"] + SettingKey.ofFeeds.map(\.rawValue)).flatMap { [$0, "1"] }
    #expect(method.accepts(words.count))
    #expect(!method.accepts(words.count + 2))
  }

  @Test("a talker's number may be a float, as control surfaces send it; what is no such number is refused")
  func partNumbers() throws {
    for argument in [OSCMessage.Argument.float(2), .integer(2), .string("2")] {
      let message = OSCMessage("/pinna/set/part", [argument])
      #expect(try Change(.part, message.words[0]) == .set(.part, .word("2")))
    }
    for argument in [OSCMessage.Argument.float(2.5), .float(0), .integer(-1), .float(1e30)] {
      let message = OSCMessage("/pinna/set/part", [argument])
      let failure = #expect(throws: Failure.self) { try Change(.part, message.words[0]) }
      #expect(failure?.description.contains("no talker") == true)
    }
  }

  @Test("during a take feeds neither come, change nor go")
  func lock() {
    let rig = Rig.live()
    _ = add(rig, "anna")
    settle(rig)
    rig.startTake()
    rig.world.takes.last?.open()
    rig.run(periods: 3)
    #expect(rig.processor.state.take != nil)
    #expect(add(rig, "ben").outcome?.status == .refused)
    #expect(
      rig.ask("set") { try $0.setFeed("anna", FeedWords(["gain", "1"]), $1) }.outcome?.status == .refused)
    #expect(rig.ask("remove") { try $0.removeFeed("Anna", $1) }.outcome?.status == .refused)
    #expect(rig.processor.wanted.others.map(\.name) == ["anna"])
    #expect(rig.world.client?.audibleFeeds.map(\.key) == ["anna"])
  }

  @Test("R25: a take that begins between changes of a feed refuses those that have not begun, and no others")
  func takeBetweenChanges() {
    let rig = Rig.live()
    for name in ["anna", "ben"] { _ = add(rig, name) }
    settle(rig)
    func set(_ name: String, _ words: String...) -> Rig.SentRequest {
      rig.ask("set") { try $0.setFeed(name, FeedWords(words[...]), $1) }
    }
    let first = [set("anna", "gain", "-3"), set("ben", "gain", "-3")]
    rig.processor.poll()
    // These wait for the fades, and for a design.
    let second = [
      set("anna", "high-pass", "80"), rig.ask("remove") { try $0.removeFeed("ben", $1) },
      add(rig, "carla", ["look", "20"]),
    ]
    rig.processor.poll()
    let start = rig.startTake()
    rig.open(rig.world.takes.last!)
    rig.run(periods: 3)
    #expect(start.status == .done && rig.processor.state.kind == .recording)
    #expect(first[0].feedAnswer?.feed?.gain.value == -3 && first[1].text == Failure.superseded)
    #expect(second.allSatisfy { $0.status == .refused }, "\(second.map(\.text))")
    let heard = rig.world.client?.audibleFeeds
    #expect(heard?.values.map(\.gain.value) == [-3, -3])
    rig.stopTake()
    rig.run(periods: 1)
    rig.finish(rig.world.takes.last!)
    settle(rig)
    #expect(rig.world.client?.audibleFeeds == heard && rig.processor.areFeedsSettled)
  }

  @Test("feeds go on with another input, and come back with the server")
  func otherEngines() {
    let rig = Rig.live()
    _ = add(rig, "anna", ["pattern", "cardioid"])
    settle(rig)
    rig.set(["input": "b"], gain: 1)
    rig.world.endDesign()
    rig.run(periods: 3)
    rig.world.client?.endPreparing()
    rig.run(periods: 10)
    settle(rig)
    #expect(rig.processor.inForce.device.name == "b")
    #expect(rig.world.client?.audibleFeeds["anna"]?.selection.polarPattern == .cardioid)
    rig.world.client?.loss = .server("it was killed")
    rig.run(periods: 1)
    rig.world.client?.endClosing()
    rig.advance(.seconds(1))
    rig.join()
    settle(rig)
    #expect(rig.world.client?.audibleFeeds["anna"]?.selection.polarPattern == .cardioid)
  }

  @Test("a feed whose ports cannot be registered is refused with the reason, and is not wanted any more")
  func portFailure() {
    let rig = Rig.live()
    let added = add(rig, "anna")
    rig.run(periods: 1)
    rig.world.client?.endFeedJob(Failure(.failed, "JACK did not register the port"))
    rig.run(periods: 1)
    #expect(added.text.contains("did not register"))
    #expect(rig.processor.wanted.others.isEmpty)
    settle(rig)
    #expect(rig.world.client?.audibleFeeds.isEmpty == true)
  }

  @Test("while a feed's ports are overdue, who changes it is told so, and it happens when they come")
  func overdue() {
    let rig = Rig.live()
    let added = add(rig, "anna")
    rig.advance(.seconds(10))
    #expect(added.text.contains("comes into force when they do"), "\(added.text)")
    let changed = rig.ask("set") { try $0.setFeed("anna", FeedWords(["gain", "-9"]), $1) }
    rig.processor.poll()
    #expect(changed.text.contains("comes into force when they do"), "\(changed.text)")
    settle(rig)
    #expect(rig.world.client?.audibleFeeds["anna"]?.gain.value == -9)
  }

  @Test("the gain of B-format changes by a crossfade: its ports and filters stay")
  func gainOfBFormat() throws {
    let rig = Rig.live()
    let added = add(rig, "room", ["order", "1"])
    rig.run(periods: 1)
    #expect(rig.world.designs.map(\.device.dataSources[0].polarPatterns) == [[.ambix1]])
    rig.world.endDesign()
    settle(rig)
    #expect(added.feedAnswer?.feed?.outputs.map(\.name) == ["room_w", "room_y", "room_z", "room_x"])
    let changed = rig.ask("set") { try $0.setFeed("room", FeedWords(["gain", "-6"]), $1) }
    rig.run(periods: 1)
    #expect(rig.world.client?.feedJobs.isEmpty == true && rig.world.designs.isEmpty)
    rig.run(periods: 3)
    #expect(changed.feedAnswer?.feed?.gain.value == -6 && changed.feedAnswer?.feed?.isHeard == true)
    #expect(rig.world.client?.audibleFeeds["room"]?.gain.value == -6)
  }

  @Test("a feed that is asked for while the first filters are designed waits for them, with progress")
  func joining() {
    let rig = Rig()
    rig.world.now += .milliseconds(300)
    rig.processor.poll()
    rig.endOpening(48000)
    #expect(rig.processor.state.kind == .joining)
    let added = add(rig, "anna")
    rig.world.designs.first?.job.report(progress: 0.5)
    rig.processor.poll()
    #expect(added.outcome == nil && added.progress == ["designing filters for a"])
    rig.endDesign()
    rig.endPreparing()
    settle(rig)
    #expect(added.feedAnswer?.feed?.isHeard == true)
  }

  @Test("a newer look of a feed ends the design of the older one, unless another feed waits for that")
  func newerLook() {
    let rig = Rig.live()
    let anna = add(rig, "anna", ["look", "20"])
    rig.run(periods: 1)
    let ben = add(rig, "ben", ["look", "20"])
    rig.run(periods: 1)
    let first = rig.world.designs.map(\.job)
    #expect(first.count == 1)
    func look(_ name: String, _ azimuth: Int) -> Rig.SentRequest {
      rig.ask("set") { try $0.setFeed(name, FeedWords(["look", "\(azimuth)"]), $1) }
    }
    let others = [look("anna", 30)]
    rig.run(periods: 1)
    #expect(rig.world.designs.count == 2)
    _ = look("ben", 40)
    rig.run(periods: 1)
    #expect(anna.text == Failure.superseded && ben.text == Failure.superseded)
    #expect(others[0].outcome == nil && rig.world.designs.count == 3)
    // The first one was told to end: what it still finds does not count.
    rig.world.endDesign()
    rig.run(periods: 1)
    #expect(first[0].result == nil)
  }

  @Test("of changes that come faster than fades, the newest is heard, and each is answered")
  func newestWins() {
    let rig = Rig.live()
    _ = add(rig, "anna")
    settle(rig)
    let requests = (1...20).map { n in
      rig.ask("set") { try $0.setFeed("anna", FeedWords(["gain", "\(-n)"]), $1) }
    }
    settle(rig)
    #expect(requests.allSatisfy { $0.outcome != nil })
    #expect(requests.last?.outcome?.status == .done)
    #expect(rig.world.client?.audibleFeeds["anna"]?.gain.value == -20)
  }

  @Test("whoever asked for what a newer change keeps is answered with that; whoever it replaces is told")
  func contained() throws {
    let rig = Rig.live()
    _ = add(rig, "anna")
    settle(rig)
    func set(_ feed: String, _ words: String...) -> Rig.SentRequest {
      rig.ask("set") { processor, request in
        if FeedSetting.isMain(feed) {
          try processor.set(Change.list(words[...]), request)
        } else {
          try processor.setFeed(feed, FeedWords(words[...]), request)
        }
      }
    }
    for feed in ["anna", "main"] {
      // The first one is fading while the others come.
      _ = set(feed, "gain", "-1")
      rig.run(periods: 1)
      let (kept, replaced) = (set(feed, "mute", "on"), set(feed, "high-pass", "60"))
      let newest = set(feed, "high-pass", "80")
      settle(rig)
      #expect(kept.status == .done && newest.status == .done, "\(feed): \(kept.text)")
      #expect(replaced.text == Failure.superseded, "\(feed)")
    }
  }

  @Test("who went back to the present device with another gain is told that a newer gain replaced it")
  func back() {
    let rig = Rig.live()
    rig.set([:], gain: 1)
    rig.run(periods: 1)
    rig.set(["input": "b"], gain: 2)
    let (back, newest) = (rig.set(["input": "a"], gain: 3), rig.set([:], gain: 4))
    settle(rig)
    #expect(back.text == Failure.superseded && newest.status == .done, "\(back.text)")
    #expect(rig.processor.inForce.main.gain.value == Rig.decibels(4))
  }
}
