import Acoustics
import Messages

extension InputsReport {
  /// Every input with its data sources, in the format of the seeds' reports.
  package var text: String { inputs.flatMap(\.lines).joined(separator: "\n") }
}

extension InputsReport.Input {
  fileprivate var lines: [String] {
    let port = "port \"\(name)\" (\(portType.title), UID \(uid))"
    guard let dataSources, !dataSources.isEmpty else {
      return ["There is nothing to choose for \(port)"] + (active ? ["* it is in the route"] : [])
    }
    let count =
      dataSources.count == 1 ? "is 1 data source" : "are \(dataSources.count) data sources"
    let selected = dataSources.first(where: \.selected).map {
      "Currently selected source is \"\($0.name)\" for port \"\(name)\""
    }
    return ["There \(count) for \(port)"] + dataSources.flatMap(\.lines) + [selected].compactMap(\.self)
  }
}

extension InputsReport.DataSourceReport {
  /// The supported polar patterns, with the selected one in brackets, and a line for each case that is not offered or weak.
  fileprivate var lines: [String] {
    let patterns = supportedPolarPatterns.map {
      $0 == selectedPolarPattern ? "[\($0.rawValue)]" : $0.rawValue
    }
    let offered =
      "\(selected ? "* " : "  ")ID \(id)  \(name.padded(8)) " + patterns.joined(separator: ", ")
    func lines(_ remarks: [InputsReport.Remark], _ word: String) -> [String] {
      remarks.map {
        "    \(word) \($0.polarPattern.rawValue)\($0.inputOrientation.map { " in \($0.rawValue)" } ?? ""): \($0.reason)"
      }
    }
    return [offered] + lines(notOffered, "no") + lines(weak, "weak")
  }
}
