import Foundation
import TestSupport

/// The commands of the user units, started as systemd starts them.
public enum UserUnit {
  /// As a shell script whose `$0` is the program. Systemd, too, takes `$PINNA_OPTIONS` for several words.
  public static func command(of unit: String) throws -> String {
    let text = try String(contentsOfFile: repositoryFolder + "/packaging/" + unit, encoding: .utf8)
    let line = text.split(separator: "\n").first { $0.hasPrefix("ExecStart=") }
    guard let line, line.contains("@PREFIX@/bin/pinna ") else {
      throw SupportError("no ExecStart in \(unit)")
    }
    return String(line.dropFirst("ExecStart=".count)).replacing("@PREFIX@/bin/pinna", with: "\"$0\"")
  }
}
