import Foundation
import Recording
import Testing

@Suite("The folder that takes go to by themselves") struct StandardFolderTests {
  static let account = String(cString: getpwuid(getuid()).pointee.pw_dir)

  @Test(
    "is in the account's home where HOME is no path from the root, and ignores a music folder that is none",
    arguments: [["HOME": "relhome"], ["HOME": ""], [:], ["XDG_MUSIC_DIR": "Musik"]])
  func account(environment: [String: String]) {
    #expect(TakeFolder.standard(environment) == TakeFolder.resolve(Self.account + "/Music/pinna"))
  }

  @Test("is where XDG_MUSIC_DIR says, or in HOME")
  func given() {
    #expect(
      TakeFolder.standard(["XDG_MUSIC_DIR": "/nowhere/Musik", "HOME": "/nowhere"]) == "/nowhere/Musik/pinna")
    #expect(TakeFolder.standard(["XDG_MUSIC_DIR": "Musik", "HOME": "/nowhere"]) == "/nowhere/Music/pinna")
  }
}
