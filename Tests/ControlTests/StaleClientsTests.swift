import Foundation
import JackClient
import Testing

@Suite("Clients that left while Pinna joined") struct StaleClientsTests {
  /// Maps a file of this name in /dev/shm while `body` runs. The file is already removed if `isRemoved`.
  func map(_ name: String, isRemoved: Bool, _ body: () -> Void) throws {
    let path = "/dev/shm/\(name)-\(getpid())"
    let file = open(path, O_RDWR | O_CREAT, 0o600)
    try #require(file >= 0 && ftruncate(file, 4096) == 0)
    defer { close(file) }
    let memory = mmap(nil, 4096, PROT_READ, MAP_SHARED, file, 0)
    defer { munmap(memory, 4096) }
    if isRemoved { unlink(path) }
    body()
    unlink(path)
  }

  @Test("only a mapped semaphore whose file is gone counts as a stale client")
  func maps() throws {
    #expect(!StaleClients.hasAny())
    try map("jack_sem.0_test_present", isRemoved: false) { #expect(!StaleClients.hasAny()) }
    try map("jack-0-2", isRemoved: true) { #expect(!StaleClients.hasAny()) }
    try map("jack_sem.0_test_gone", isRemoved: true) { #expect(StaleClients.hasAny()) }
    #expect(!StaleClients.hasAny())
  }
}
