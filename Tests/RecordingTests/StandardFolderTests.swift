import Foundation
import Recording
import Testing

@Suite("The standard takes folder") struct StandardFolderTests {
  static let account = String(cString: getpwuid(getuid()).pointee.pw_dir)

  @Test(
    "without an absolute HOME the folder is in the account's home, and a relative XDG_MUSIC_DIR is ignored",
    arguments: [["HOME": "relhome"], ["HOME": ""], [:], ["XDG_MUSIC_DIR": "Musik"]])
  func account(environment: [String: String]) {
    #expect(TakeFolder.standard(environment) == TakeFolder.resolve(Self.account + "/Music/pinna"))
  }

  @Test("the folder is in XDG_MUSIC_DIR, or else in HOME")
  func fromEnvironment() {
    #expect(
      TakeFolder.standard(["XDG_MUSIC_DIR": "/nowhere/Musik", "HOME": "/nowhere"]) == "/nowhere/Musik/pinna")
    #expect(TakeFolder.standard(["XDG_MUSIC_DIR": "Musik", "HOME": "/nowhere"]) == "/nowhere/Music/pinna")
  }
}
