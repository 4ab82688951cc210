import Foundation
import JackClient
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  @Suite("pinna demo") struct DemoTests {
    @Test("demo shows one case: voices, a take, a refusal and a picture of where each voice came out")
    func picture() throws {
      let home = try PinnaHome()
      // A relative path that goes through a symbolic link: takes are refused for either.
      let real = home.folder.path + "/real"
      try FileManager.default.createDirectory(atPath: real, withIntermediateDirectories: false)
      try FileManager.default.createSymbolicLink(
        atPath: home.folder.path + "/link", withDestinationPath: real)
      let up = FileManager.default.currentDirectoryPath.split(separator: "/").map { _ in "../" }.joined()
      let typed = up + home.folder.path.dropFirst() + "/link/kept"
      let folder = URL(filePath: real).resolvingSymlinksInPath().path + "/kept"
      let outcome = try home.pinna("demo", "--preset", "glasses8", "--keep", typed, "--json")
      #expect(outcome.status == 0, "\(outcome)")
      let json = try outcome.json()
      #expect(json["offline"] as? Bool == false)
      #expect(json["right"] as? Bool == true && (json["cases"] as? [[String: Any]])?.count == 1)
      #expect((json["refused"] as? String)?.contains("nothing may change") == true)
      #expect(json["picture"] as? String == folder + "/demo.png")
      let picture = try Data(contentsOf: URL(filePath: folder + "/demo.png"))
      #expect(picture.prefix(8) == Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]))
      let kept = try FileManager.default.contentsOfDirectory(atPath: folder)
      #expect(Set(["demo.png", "microphones.wav", "outputs.wav"]).isSubset(of: kept), "\(kept)")
      #expect(kept.contains { $0.hasSuffix("-glasses8-1.wav") }, "\(kept)")
    }

    @Test(
      "an interrupted demo leaves neither its server nor its processor behind",
      arguments: [SIGINT, SIGTERM])
    func interrupted(number: Int32) throws {
      let home = try PinnaHome()
      let demo = try Program(try PinnaHome.binary(), ["demo"], environment: home.environment)
      // The processor's name, from which the server's is derived.
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
