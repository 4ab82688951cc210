/// What can be listed by name.
package enum NameList: String, Sendable { case presets, banks, devices, takes }

/// The answer to `/pinna/presets`, `/pinna/banks`, `/pinna/devices` or `/pinna/takes`: names only.
package struct NamesAnswer: Codable, Sendable {
  /// Version of this answer's format.
  package let format: Int
  package var presets: [String]?
  package var banks: [String]?
  package var devices: [String]?
  /// File names in the takes folder, newest first.
  package var takes: [String]?

  package init(_ list: NameList, _ names: [String]) {
    format = 1
    switch list {
    case .presets: presets = names
    case .banks: banks = names
    case .devices: devices = names
    case .takes: takes = names
    }
  }

  /// The names of takes that are listed if no number is given, and how many may be asked for.
  package static let takes = 20
  package static let takeCounts = 1...1000
}
