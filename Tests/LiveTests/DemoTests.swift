import Foundation
import JackClient
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  @Suite("pinna demo") struct DemoTests {
    @Test(
      "leaves neither its server nor its processor behind when it is interrupted",
      arguments: [SIGINT, SIGTERM])
    func interrupted(number: Int32) throws {
      let home = try PinnaHome()
      let demo = try Program(try PinnaHome.binary(), ["demo"], environment: home.environment)
      // The processor's name, of which the server's is made.
      func processor() -> String? {
        let files = try? FileManager.default.contentsOfDirectory(atPath: home.runtimeFolder + "/pinna")
        return files?.first { $0.hasSuffix(".sock") }.map { String($0.dropLast(5)) }
      }
      try #require(waitUntil(seconds: 60) { demo.isRunning && processor() != nil })
      let name = try #require(processor())
      try #require(try waitUntil(seconds: 10) { try home.pinna("status", "--name", name).status == 0 })
      demo.signal(number)
      let outcome = try #require(demo.wait(seconds: 10))
      #expect(outcome.status == 1)
      #expect(outcome.error.contains("interrupted"), "\(outcome)")
      #expect(try home.pinna("status", "--name", name).status == 4)
      #expect(throws: JackError.noServer("pinna-" + name)) {
        try JackConnection(name: "probe", server: "pinna-" + name)
      }
    }
  }
}
