import Foundation
import Recording
import TestSupport
import Testing

@Suite("The standard takes folder") struct StandardFolderTests {
  static let account = String(cString: getpwuid(getuid()).pointee.pw_dir)

  @Test(
    "without an absolute HOME the folder is in the account's home, and a relative XDG_MUSIC_DIR is ignored",
    arguments: [["HOME": "relhome"], ["HOME": ""], [:], ["XDG_MUSIC_DIR": "Musik"]])
  func account(environment: [String: String]) {
    // The account's own settings do not count here.
    let environment = environment.merging(["XDG_CONFIG_HOME": "/nowhere"]) { $1 }
    #expect(TakeFolder.standard(environment) == TakeFolder.resolve(Self.account + "/Music/pinna"))
  }

  @Test("the folder is in XDG_MUSIC_DIR, or else in HOME")
  func fromEnvironment() {
    #expect(
      TakeFolder.standard(["XDG_MUSIC_DIR": "/nowhere/Musik", "HOME": "/nowhere"]) == "/nowhere/Musik/pinna")
    #expect(TakeFolder.standard(["XDG_MUSIC_DIR": "Musik", "HOME": "/nowhere"]) == "/nowhere/Music/pinna")
  }

  @Test("without XDG_MUSIC_DIR, the desktop's setting names the music folder, as xdg-user-dirs reads it")
  func settings() throws {
    let folder = try TemporaryFolder()
    let home = TakeFolder.resolve(folder.path)
    let usual = home + "/Music/pinna"
    let texts = [
      (#"XDG_MUSIC_DIR="$HOME/Musik""#, home + "/Musik/pinna"),
      (
        "# XDG_MUSIC_DIR=\"/no\"\nXDG_DESKTOP_DIR=\"/d\"\n \tXDG_MUSIC_DIR = \"/nowhere/Ton/\"  \n",
        "/nowhere/Ton/pinna"
      ),
      (#"XDG_MUSIC_DIR="$HOME/Meine \"Musik\" \$1 \\ ö""#, home + #"/Meine "Musik" $1 \ ö/pinna"#),
      ("XDG_MUSIC_DIR=\"/nowhere/a\"\nXDG_MUSIC_DIR=\"/nowhere/b\"\n", "/nowhere/b/pinna"),
      // Disabled, or of another form.
      (#"XDG_MUSIC_DIR="$HOME/""#, usual), (#"XDG_MUSIC_DIR="\#(home)/""#, usual),
      ("XDG_MUSIC_DIR=\"/nowhere/a\"\nXDG_MUSIC_DIR=\"$HOME/\"\n", usual),
      (#"XDG_MUSIC_DIR="Musik""#, usual), (#"XDG_MUSIC_DIR="$HOMER/Musik""#, usual),
      ("XDG_MUSIC_DIR=$HOME/Musik", usual), (#"XDG_MUSIC_DIR="/nowhere"#, usual), ("", usual),
    ]
    for (text, expected) in texts {
      try folder.write(text, to: ".config/user-dirs.dirs")
      #expect(TakeFolder.standard(["HOME": home]) == expected, "\(text)")
      #expect(TakeFolder.standard(["HOME": home, "XDG_CONFIG_HOME": "relative"]) == expected, "\(text)")
      #expect(TakeFolder.standard(["HOME": home, "XDG_CONFIG_HOME": "/nowhere"]) == usual)
      #expect(TakeFolder.standard(["HOME": home, "XDG_MUSIC_DIR": "/nowhere/m"]) == "/nowhere/m/pinna")
    }
  }

  @Test("where takes are in ~/Music/pinna alone, new ones stay with them, whatever the desktop's setting")
  func earlierTakes() throws {
    let folder = try TemporaryFolder()
    let home = TakeFolder.resolve(folder.path)
    try folder.write(#"XDG_MUSIC_DIR="$HOME/Musik""#, to: ".config/user-dirs.dirs")
    try folder.write("", to: "Music/pinna/take.wav")
    try folder.write("", to: "Musik/song.wav")
    #expect(TakeFolder.standard(["HOME": home]) == home + "/Music/pinna")
    try folder.write("", to: "Musik/pinna/take.wav")
    #expect(TakeFolder.standard(["HOME": home]) == home + "/Musik/pinna")
  }
}
