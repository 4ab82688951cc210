import Foundation
import JackClient
import JackWorld
import Processor
import TestSupport
import Testing

@Suite("A memory of the last run that cannot be kept", .timeLimit(.minutes(10))) struct RunMemoryFaultTests {
  let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  @Test("what cannot be kept is a fault that names the file, until it can be kept again")
  func fault() throws {
    try folder.write("a file where a folder belongs", to: "state")
    let path = folder.path + "/state/pinna/left.json"
    let file = try RunMemoryFile(path: path)
    #expect(file.fault == nil)
    file.keep(RunMemory(Rig.setting, []))
    while file.fault == nil { usleep(1000) }
    let fault = try #require(file.fault)
    #expect(fault.contains("not kept for the next run") && fault.contains(path), "\(fault)")
    try FileManager.default.removeItem(atPath: folder.path + "/state")
    file.keep(RunMemory(Rig.setting, [Wiring.Wire("one", "system:capture_1")]))
    while file.fault != nil { usleep(1000) }
    #expect(try RunMemoryFile.read(path)?.connections.count == 1)
  }
}
