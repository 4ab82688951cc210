import Foundation
import TestSupport

/// A home with the entry, and with a default browser that notes what it is to open.
public struct Desktop {
  let home: PinnaHome
  private let notes: String
  public var environment: [String: String]

  /// - Parameter browser: a script; what to open are its arguments.
  public init(home: PinnaHome, browser: String = "") throws {
    self.home = home
    let folder = home.folder.path
    notes = folder + "/opened"
    let script = try home.folder.write("#!/bin/sh\necho \"$1\" >>'\(notes)'\n" + browser, to: "browser")
    chmod(script, 0o755)
    try home.folder.write(
      "[Desktop Entry]\nType=Application\nName=Browser\nExec=\(script) %u\n",
      to: "data/applications/browser.desktop")
    try home.folder.write(
      "[Default Applications]\nx-scheme-handler/http=browser.desktop\ntext/html=browser.desktop\n",
      to: "config/mimeapps.list")
    let entry = try String(
      contentsOfFile: repositoryFolder + "/packaging/org.pinna_audio.pinna.desktop", encoding: .utf8)
    try home.folder.write(
      entry.replacing("@PREFIX@/bin/pinna", with: PinnaHome.binary()),
      to: "data/applications/org.pinna_audio.pinna.desktop")
    environment = home.environment.merging([
      "HOME": folder, "XDG_DATA_HOME": folder + "/data", "DISPLAY": ":none", "BROWSER": script,
      "DBUS_SESSION_BUS_ADDRESS": "disabled:",
    ]) { $1 }
    for name in ["XDG_CURRENT_DESKTOP", "DESKTOP_SESSION", "WAYLAND_DISPLAY"] { environment[name] = nil }
  }

  /// What the browser was to open so far.
  public var opened: [String] {
    ((try? String(contentsOfFile: notes, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
  }

  /// Launches the entry, and waits until the browser is to open something.
  public func launch(seconds: Double = 60) throws -> String {
    let count = opened.count
    let outcome = try Program.run(
      "/usr/bin/gio", ["launch", home.folder.path + "/data/applications/org.pinna_audio.pinna.desktop"],
      environment: environment, seconds: seconds)
    guard outcome.status == 0, waitUntil(seconds: seconds, { opened.count > count }) else {
      throw SupportError("the entry opened nothing: \(outcome)")
    }
    return opened[count]
  }

  /// What the entry does, in a terminal.
  public func pinna(_ words: String...) throws -> Program.Outcome {
    try Program.run(try PinnaHome.binary(), ["monitor", "--web"] + words, environment: environment)
  }
}
