import Messages
import Settings
import Testing
import WebPage

/// What the page may ask, and how often.
@Suite("Requests of the web page") struct RequestTests {
  func request(_ text: String) -> OSCMessage? { try? PageRequest(body: Array(text.utf8)).message }

  @Test("the controls of the page become the command line's requests")
  func controls() {
    #expect(
      request(#"{"method":"/pinna/set","arguments":["gain","-6","mute","on"]}"#)
        == OSCMessage("/pinna/set", [.string("gain"), .string("-6"), .string("mute"), .string("on")]))
    #expect(
      request(#"{"method":"/pinna/set","arguments":["seat","anna=40,5"]}"#)
        == OSCMessage("/pinna/set", [.string("seat"), .string("anna=40,5")]))
    #expect(request(#"{"method":"/pinna/record/start"}"#) == OSCMessage("/pinna/record/start"))
    #expect(
      request(#"{"method":"/pinna/record/start","arguments":["feeds","all"]}"#)
        == OSCMessage("/pinna/record/start", [.string("feeds"), .string("all")]))
    #expect(
      request(#"{"method":"/pinna/record/title","arguments":["Ä \"b\""]}"#)
        == OSCMessage("/pinna/record/title", [.string("Ä \"b\"")]))
    #expect(
      request(#"{"method":"/pinna/feed/set","arguments":["anna","gain","-6"]}"#)
        == OSCMessage("/pinna/feed/set", [.string("anna"), .string("gain"), .string("-6")]))
    #expect(request(#"{"method":"/pinna/feed/add","arguments":["room","order","1"]}"#) != nil)
    for method in ["/pinna/preset/use", "/pinna/record/marker", "/pinna/feed/remove", "/pinna/feed/add"] {
      #expect(request(#"{"method":"\#(method)","arguments":["x"]}"#) != nil)
    }
  }

  @Test(
    "what names a path, ends Pinna or is malformed is refused",
    arguments: [
      #"{"method":"/pinna/record/start","arguments":["/tmp"]}"#,
      #"{"method":"/pinna/record/start","arguments":["dir","/tmp"]}"#,
      #"{"method":"/pinna/record/start","arguments":["raw","on","dir","/tmp"]}"#,
      #"{"method":"/pinna/play","arguments":["/etc/passwd"]}"#, #"{"method":"/pinna/stop"}"#,
      #"{"method":"/pinna/session/open","arguments":["x"]}"#, #"{"method":"/pinna/set"}"#,
      #"{"method":"/pinna/set","arguments":["gain"]}"#, #"{"method":"/pinna/set","arguments":["dir","/"]}"#,
      #"{"method":"/pinna/feed/set","arguments":["anna"]}"#,
      #"{"method":"/pinna/feed/set","arguments":["anna","dir","/"]}"#,
      #"{"method":"/pinna/feed/set","arguments":["gain","-6"]}"#,
      #"{"method":"/pinna/feed/add","arguments":["anna","dir","/"]}"#,
      #"{"method":"/pinna/feed/remove"}"#, #"{"method":"/pinna/feed/anna/set/gain","arguments":["1"]}"#,
      #"{"method":"/pinna/set","arguments":["gain",1]}"#, #"{"method":1}"#, #"[]"#, "", "{", "null", "\0",
    ])
  func refusals(text: String) { #expect(request(text) == nil) }

  @Test(
    "each setting accepts every option that the page offers, and the first is that of a status without the value"
  )
  func options() throws {
    let offered = SettingKey.ofFeeds.filter { !$0.row.options.isEmpty }
    #expect(Set([.room, .talkers, .highPass, .part]).isSubset(of: offered))
    for key in offered {
      let values = try key.row.options.map { option in
        let change = try Change(key, option)
        return [change][key]?.word
      }
      #expect(values == key.row.options)
      #expect(values[0] == key.row.feed?.unsaid?.word)
    }
  }

  @Test("arguments are limited in length, and hold no zero byte")
  func arguments() {
    func title(_ text: String) -> OSCMessage? {
      request(#"{"method":"/pinna/record/title","arguments":["\#(text)"]}"#)
    }
    #expect(title(String(repeating: "x", count: 1000)) != nil)
    #expect(title(String(repeating: "x", count: 1001)) == nil)
    #expect(title(#"a\u0000b"#) == nil)
  }

  @Test("names of takes are plain file names of sound files")
  func names() {
    #expect(TakeLibrary.type(of: "2026-11-24T101112-phone5-1.wav") == "audio/wav")
    #expect(TakeLibrary.type(of: "a.flac") == "audio/flac")
    for name in [
      "", ".", "..", "../a.wav", "/etc/passwd", "a/b.wav", "a.json", "a.wav.part", ".wav", "wav", "a\0.wav",
      "..wav",
      "%2e%2e%2fa.wav/",
    ] { #expect(TakeLibrary.type(of: name) == nil, "\(name)") }
  }

  @Test("ranges are those of RFC 9110")
  func ranges() {
    #expect(ByteRange("bytes=0-499", size: 1000) == .part(first: 0, last: 499))
    #expect(ByteRange("bytes=500-", size: 1000) == .part(first: 500, last: 999))
    #expect(ByteRange("bytes=-200", size: 1000) == .part(first: 800, last: 999))
    #expect(ByteRange("bytes=-2000", size: 1000) == .part(first: 0, last: 999))
    #expect(ByteRange("bytes=900-5000", size: 1000) == .part(first: 900, last: 999))
    for text in ["bytes=1000-", "bytes=-0"] { #expect(ByteRange(text, size: 1000) == .unsatisfiable) }
    #expect(ByteRange("bytes=0-", size: 0) == .unsatisfiable)
    for text in [
      nil, "", "bytes=5-1", "bytes=0-1,3-4", "bytes=-", "lines=0-1", "bytes=99999999999999999999-",
    ] {
      #expect(ByteRange(text, size: 1000) == .whole)
    }
  }

  @Test("a limit allows a burst, then so many per second")
  func limits() {
    let start = ContinuousClock.now
    var limit = RateLimit(perSecond: 10, burst: 20, now: start)
    func allowed(_ count: Int, at seconds: Double) -> Int {
      (0..<count).count { _ in limit.allows(now: start + .seconds(seconds)) }
    }
    #expect(allowed(100, at: 0) == 20)
    #expect(allowed(100, at: 0.55) == 5)
    #expect(allowed(100, at: 100) == 20)
    // The clock never goes back, but a value may.
    #expect(allowed(100, at: 50) == 0)
  }

  @Test("fields of an answer are told apart untouched, and only changes are sent")
  func fields() throws {
    let first = try #require(JSONFields(#"{"a":[1,{"b":2}],"c":"x,\"}:","d":1.50,"e":{}}"#))
    #expect(first.values == ["a": #"[1,{"b":2}]"#, "c": #""x,\"}:""#, "d": "1.50", "e": "{}"])
    #expect(first.changes(since: first) == nil)
    let second = try #require(JSONFields(#"{"a":[1,{"b":3}],"c":"x,\"}:","e":{}}"#))
    #expect(second.changes(since: first) == #"{"a":[1,{"b":3}],"d":null}"#)
    #expect(first.changes(since: JSONFields())?.contains(#""d":1.50"#) == true)
    #expect(JSONFields("{}")?.values == [:])
    for text in ["", "[]", "{", "}", "{\"a\":1}}", "{\"a\":1", "x"] {
      #expect(JSONFields(text) == nil, "\(text)")
    }
  }
}
