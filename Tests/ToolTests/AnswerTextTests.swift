import Messages
import TestSupport
import Testing
import pinna

/// The text that people see of a running Pinna's JSON answers.
@Suite("Answers as text") struct AnswerTextTests {
  private func document<Document: Decodable>(_ text: String) throws -> Document {
    try Answer(.done, text).document()
  }

  @Test("the text of a status shows all its fields")
  func status() throws {
    let status: StatusReport = try document(AnswerSamples.everything)
    let text = """
      recording, but nothing is written to disk any more; pair: Front, stereo at -30.5°, 10° up; only the microphone left is heard, following roll (-2°) and yaw (12°), -3.5 dB, high-pass 80 Hz, adapting 0.5, without wind 0.5, talkers alone, in the frame 30,60, room -12 dB, talkers -3 dB, muted
      weak: it is omnidirectional below 200 Hz
      2 microphones at 48000 Hz, period 64, latency 64 frames, 1 xrun, load 12.2 %, following the sound 7.5 % of a core
      no periods reach Pinna, so nothing is heard or recorded: the JACK server stands still, or what its microphones are connected to does (a:1, b:2); disconnect that
      other programs removed Pinna from the graph 2 times; libjack keeps some memory of each until Pinna ends
      nothing is heard: the outputs are muted; pinna set --mute off
      MIDI from keys:out: bank evening, 2 controllers
      feed anna: Front, cardioid at 60°, rolled by 20°, turned by -15°, following look (12°, 4° up), -6 dB, high-pass 80 Hz, without wind 1, in the frame 0,90, muted; port anna; weak: it hears behind; not heard: there is no port
        left              -20.1 dB rms    -3.0 dB peak
        right                 –    rms       –    peak
        out_left          -30.5 dB rms   -12.2 dB peak
        out_right         -31.0 dB rms   -12.0 dB peak
        anna              -24.0 dB rms   -12.0 dB peak
      calibrated on 2026-11-23 in a recording
      filters without one microphone are ready for 1 of 2 microphones
      missing: right: it sends invalid samples (NaN, infinity, or above +60 dBFS)
      filters without right are in force, and there are no others: the disk is full
      warning: no microphone is connected
      warning: the disk is slow
      playing /takes/d.wav: 1200 of 4800 frames
      take: /takes/a.wav, 960 frames (ends by itself after 3:00:00.0); also anna, microphones
      last take: /takes/b.wav, 480 frames; it ended because the JACK server ended; it is incomplete: 64 frames are silence
      being written: /takes/c.flac
      changing to phone5: 25 %
      the session camera controls the route
      head tracker: yaw 12°, pitch 4°, roll -2°
      filters at 60° are being designed; until then the nearest play
      wind: -32 dBFS at top; 14 dB taken out
      talkers: anna at 35°, 10° down (-32 dB), ben at -60° (silent)
      Port: USBAudio
      Name: Front
      Polar Pattern: Stereo
      """
    #expect(status.text == text)
    let array: StatusReport = try document(
      AnswerSamples.everything.replacing(#""listening":"left","#, with: ""))
    #expect(
      array.text.contains(
        "pair: Front, stereo at -30.5°, 10° up, landscapeLeft; left hears the side of +x, microphone left, right that of -x, microphone "
          + "right, following roll (-2°) and yaw (12°), -3.5 dB, high-pass 80 Hz, adapting 0.5, without wind 0.5, talkers alone, in the frame 30,60, room -12 dB, talkers -3 dB, muted\n"
      ))
    let waiting: StatusReport = try document(
      AnswerSamples.mono.replacing(#""device":"pair""#, with: #""designing":[60,-5],"device":"pair""#))
    #expect(
      waiting.text.contains("\nfilters at 60°, 5° down are being designed; until then the nearest play\n"))
    let picture = """
                  left
             ┌─────────────┐
             │             │
       bottom│R           L│top
             │             │
             └─────────────┘
                  right
      """
    #expect(
      status.picture
        == "no picture: left and right are not named after edges on this device; left hears the side of +x, "
        + "microphone left, right that of -x, microphone right")
    let sides = #","sides":{"left":"+x, microphone left","right":"-x, microphone right"}"#
    let phone: StatusReport = try document(
      AnswerSamples.everything.replacingOccurrences(of: sides, with: ""))
    #expect(phone.picture == picture)
  }

  @Test(
    "the first reason for silence on the way from microphones to outputs is told, and none where something is heard",
    arguments: [
      (-20.0, ["left", "out_left"], #""muted":false"#, nil),
      (-20, ["out_left"], #""muted":true"#, "no microphone is connected"),
      (-150, ["left"], #""muted":true"#, "no signal comes from any microphone"),
      (-95, ["left", "out_left"], #""muted":false"#, "no signal comes from any microphone"),
      (-20, ["left"], #""muted":true"#, "the outputs are muted"),
      (-20, ["left"], #""muted":false"#, "the outputs are connected to nothing"),
      (-20, ["left", "out_right"], #""muted":false,"listening":"left""#, nil),
    ] as [(Double, [String], String, String?)])
  func silence(peak: Double, connected: [String], muted: String, reason: String?) throws {
    let ports = connected.map { #"{"peers":["a:1"],"port":"\#($0)"}"# }.joined(separator: ",")
    let text = AnswerSamples.mono.replacing(#""peakDB":-3"#, with: #""peakDB":\#(peak)"#)
      .replacing(#""muted":false"#, with: muted)
      .replacing(#""clippedSamples":4"#, with: #""clippedSamples":4,"connections":[\#(ports)]"#)
    let status: StatusReport = try document(text)
    #expect(status.silenceFound?.reason == reason)
    let quiet: StatusReport = try document(
      text.replacing(#""gainDB":0"#, with: #""gainDB":-60"#).replacing(
        #""muted":true"#, with: #""muted":false"#))
    if reason == nil, status.listening == nil { #expect(quiet.silenceFound?.reason == "the gain is -60 dB") }
  }

  @Test("the text of a status says what a calibration was measured in, where that is known")
  func calibration() throws {
    for (source, words) in [
      ("", ""), (#","calibratedFrom":"file""#, " in a recording"),
      (#","calibratedFrom":"live""#, " in live sound"),
      (#","calibratedFrom":"simulated""#, " in a simulated scene"),
    ] {
      let status: StatusReport = try document(
        AnswerSamples.mono.replacing(
          "{\"", with: "{\"calibrated\":\"2026-11-23\"\(source),\"", maxReplacements: 1))
      #expect(status.text.contains("\ncalibrated on 2026-11-23\(words)\n"), "\(status.text)")
    }
  }

  @Test("the text of a status omits absent fields")
  func plainStatus() throws {
    let status: StatusReport = try document(AnswerSamples.mono)
    let text = """
      not recording; pair: Front, cardioid
      1 microphone at 48000 Hz, period 64, latency 64 frames, 0 xruns, load 0.5 %
        left              -20.0 dB rms    -3.0 dB peak
      Port: USBAudio
      Name: Front
      Polar Pattern: Cardioid
      """
    #expect(status.text == text)
    #expect(status.picture == "no picture: a mono pattern has no left and right")
  }

  @Test(
    "every server state except running has a line",
    arguments: [
      ("gone", "no JACK server is running; Pinna continues when one starts"),
      ("joining", "Pinna is joining the JACK graph: its filters and ports are being prepared"),
      (
        "stalled",
        "no periods reach Pinna, so nothing is heard or recorded: the JACK server stands still"
      ),
      ("unusable", "Pinna cannot use the JACK server with its present settings"),
    ])
  func server(state: String, line: String) throws {
    let status: StatusReport = try document(
      AnswerSamples.mono.replacing("\"running\"", with: "\"\(state)\""))
    #expect(status.text.split(separator: "\n")[2] == line)
  }

  @Test("the text of a status says that a take's files were removed")
  func lostTake() throws {
    let status: StatusReport = try document(
      AnswerSamples.everything.replacing(#""fault":"the disk is full","#, with: ""))
    #expect(status.text.hasPrefix("recording, but its files were removed; pair: "))
  }

  @Test("the text lists inputs, data sources and cases that are not offered")
  func inputs() throws {
    let inputs: InputsReport = try document(AnswerSamples.inputs)
    let text = """
      There are 2 data sources for port "Two microphones" (USBAudio, UID pair)
      * ID 1  Front    omnidirectional, [stereo]
          no stereo in landscapeRight: the microphones lie on one line
          no cardioid: too close
          weak stereo in portrait: heard only 40° to the left
        ID 1835216945  Bottom   omnidirectional
      Currently selected source is "Front" for port "Two microphones"
      There is 1 data source for port "One" (MicrophoneWired, UID one)
        ID 7  Only     omnidirectional
      There is nothing to choose for port "system:capture_1" (LineIn, UID system:capture_1)
      * it is in the route
      There is nothing to choose for port "system:capture_2" (LineIn, UID system:capture_2)
      """
    #expect(inputs.text == text)
  }

  @Test("the text of a change shows the result and why it is kept")
  func change() throws {
    let kept: ChangeReport = try document(AnswerSamples.keptChange)
    let text = """
      the session camera controls the route; this is set when it ends
      pair: Front, stereo at 60°; only the microphone left is heard, rolled by 30°, turned by -15°, following look, +6 dB, high-pass 40.5 Hz, adapting 0.5, in the frame 0,90, muted
      weak: it is omnidirectional below 200 Hz
      seats: anna=40
      """
    #expect(kept.text == text)
    let mono: ChangeReport = try document(AnswerSamples.monoChange)
    #expect(mono.text == "pair: Front, cardioid")
    let cancellation: CancelAnswer = try document(AnswerSamples.cancellation)
    #expect(cancellation.text == "cancelled: phone5")
  }

  @Test(
    "the text of a take's start names the file and what will be silent",
    arguments: [
      (
        AnswerSamples.takeStart,
        "armed: /takes/a.wav (to be converted to flac at its end) begins when the transport rolls: 1 of 2 microphones is not connected: left; "
          + "microphone right does not work, because it sends only zeros; recorded: main, anna, microphones; not recorded: room; it ends by itself after 3:00:00.0; the ring is short; the disk has room for 90 seconds"
      ),
      (
        AnswerSamples.silentTakeStart,
        "recording /takes/a.wav: silence, because no microphone is connected; the disk has room for 5 minutes"
      ),
      (AnswerSamples.mutedTakeStart, "recording /takes/a.wav: silence, because the outputs are muted"),
    ])
  func takeStart(json: String, text: String) throws {
    let start: TakeStartAnswer = try document(json)
    #expect(start.text == text)
  }

  @Test("the text of a take's end shows the result")
  func takeEnd() throws {
    let take: TakeAnswer = try document(AnswerSamples.takeEnd)
    #expect(
      take.text
        == "/takes/a.wav: 4800 frames, 2 channels; also /takes/a-anna.wav; microphones in /takes/a-microphones.wav; "
        + "2 samples clipped; "
        + "3 invalid samples replaced by silence; no periods reached Pinna 1 time; "
        + "no microphone was connected when the take began")
    let plain: TakeAnswer = try document(AnswerSamples.plainTakeEnd)
    #expect(plain.text == "/takes/a.wav: 4800 frames, 1 channel; no periods reached Pinna 2 times")
    let stop: StopAnswer = try document(AnswerSamples.stop)
    #expect(stop.text == "stopped; take /takes/a.wav: 4800 frames; take /takes/a.wav: 1 frame")
    let disarmed: RecordStopAnswer = try document(#"{"disarmed":"/takes/a.wav"}"#)
    #expect(disarmed.text == "disarmed: nothing was recorded, and no file of /takes/a.wav is left")
    let ended: RecordStopAnswer = try document(AnswerSamples.plainTakeEnd)
    #expect(ended.text == plain.text)
    let bare: StopAnswer = try document(#"{"stopped":true,"takes":[]}"#)
    #expect(bare.text == "stopped")
  }

  @Test("the text of a playback shows the file")
  func playback() throws {
    let playback: PlaybackReport = try document(AnswerSamples.playback)
    #expect(playback.startText == "playing /takes/d.wav: 4800 frames, 2 channels")
    #expect(playback.stopText == "stopped /takes/d.wav after 1200 of 4800 frames")
  }
}
