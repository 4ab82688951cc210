import Foundation
import LiveSupport
import TestSupport
import Testing

/// A14: what works where the system has no KEMAR file.
@Suite("Without the packaged head") struct MissingHeadTests {
  let home: VerbHome
  init() throws { home = try VerbHome(hasFilters: false) }

  static let head = "/usr/share/libmysofa/MIT_KEMAR_normal_pinna.sofa"

  /// Runs `pinna` in a mount namespace in which the file of the head is empty.
  func pinna(_ words: String...) throws -> Program.Outcome {
    try Program.run(
      "/usr/bin/unshare",
      ["-m", "sh", "-c", "mount --bind /dev/null \(Self.head) && exec \"$@\"", "sh", PinnaHome.binary()]
        + words,
      environment: home.home.environment.merging(["XDG_CACHE_HOME": home.cacheFolder]) { $1 })
  }

  @Test(
    "A14: filters that ship are found; a design of other filters names the missing file",
    .enabled(if: geteuid() == 0, "needs root, to hide the file of the head"),
    .enabled(if: access("/usr/bin/unshare", X_OK) == 0, "there is no /usr/bin/unshare"))
  func shipped() throws {
    for preset in ["phone5", "ring7", "glasses8"] {
      let outcome = try pinna("export", "--preset", preset, "--to", "wav", home.path + "/" + preset)
      #expect(outcome.status == 0 && outcome.hasNoComplaint, "\(outcome)")
    }
    let designed = try pinna("design", "phone5", "--sample-rate", "16000")
    #expect(designed.status == 1, "\(designed)")
    #expect(designed.error.contains(Self.head), "\(designed)")
  }
}
