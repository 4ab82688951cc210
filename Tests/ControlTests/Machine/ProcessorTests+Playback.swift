import Messages
import Testing

extension ProcessorTests {
  @Test("a playback that is being opened when the outputs are muted never plays, and its request is answered")
  func muteWhileOpening() {
    let rig = Rig.live()
    let play = rig.play()
    #expect(rig.processor.state.kind == .openingPlayback)
    let mute = rig.set(["mute": "on"], gain: 1)
    #expect(play.status == .failed && play.text.contains("muted"), "\(play.text)")
    rig.world.players[0].open()
    rig.run(periods: 5)
    #expect(mute.status == .done && rig.processor.state.kind == .live)
    #expect(rig.world.client?.engine?.isPlaying == false)
  }

  @Test("every playback that was announced has its end announced, also one that ends while no period runs")
  func announcedPlayback() {
    let rig = Rig.live()
    var events: [EngineEvent.Kind] = []
    rig.processor.onEvent = { events.append($0.kind) }
    rig.play()
    rig.world.players[0].open()
    rig.run(periods: 3)
    #expect(events == [.playbackBegan])
    let stop = rig.stopPlayback()
    rig.advance(.milliseconds(3001))
    #expect(stop.status == .failed && events == [.playbackBegan, .playbackEnded])
    rig.run(periods: 5)
    #expect(events == [.playbackBegan, .playbackEnded], "the callback's late report is not a second end")
  }

  @Test("a device that takes over cancels a playback that is being opened, and does not wait for its disk")
  func deviceWhileOpening() {
    let rig = Rig.live()
    let play = rig.play()
    let change = rig.set(["input": "b"], gain: 1)
    rig.finishChange()
    #expect(play.status == .failed && play.text.contains("device"), "\(play.text)")
    #expect(change.status == .done && rig.processor.inForce.device == Rig.other)
  }

  @Test("a playback is refused while no period runs, since nothing would be heard of it")
  func playDuringStall() {
    let rig = Rig.live()
    for _ in 0..<20 { rig.advance(.milliseconds(100)) }
    let play = rig.play()
    #expect(play.status == .failed && play.text.contains("no periods reach Pinna"), "\(play.text)")
    #expect(rig.processor.state.kind == .live)
  }

  @Test("a playback that the disk ends early is a warning")
  func unreadablePlayback() {
    let rig = Rig.live()
    rig.play()
    rig.world.players[0].open()
    rig.run(periods: 3)
    rig.world.players[0].fault = "the playback ended early: Input/output error"
    rig.stopPlayback()
    rig.run(periods: 5)
    #expect(rig.warnings.contains { $0.contains("ended early") && $0.contains("Input/output error") })
  }
}
