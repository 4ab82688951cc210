/// What is asked of a device: one data source, one polar pattern, one input orientation.
public struct Selection: Hashable, Sendable {
  public var dataSource: String
  public var polarPattern: PolarPattern
  public var inputOrientation: InputOrientation

  public init(dataSource: String, polarPattern: PolarPattern, inputOrientation: InputOrientation) {
    self.dataSource = dataSource
    self.polarPattern = polarPattern
    self.inputOrientation = inputOrientation
  }
}

/// One combination that has a filter set of its own. The input orientation changes nothing for mono patterns.
public struct FilterCase: Hashable, Sendable {
  public let dataSource: String
  public let polarPattern: PolarPattern
  /// Nil for mono patterns.
  public let inputOrientation: InputOrientation?

  public init(dataSource: String, polarPattern: PolarPattern, inputOrientation: InputOrientation?) {
    self.dataSource = dataSource
    self.polarPattern = polarPattern
    self.inputOrientation = polarPattern == .stereo ? inputOrientation : nil
  }
}

/// Why a device cannot do what was asked: known words, but not together here.
public struct Unsupported: Error, Hashable, CustomStringConvertible {
  public let description: String
  public init(_ description: String) { self.description = description }
}

extension Device {
  /// Every case that the device offers, data source by data source.
  public var filterCases: [FilterCase] {
    dataSources.flatMap { source in
      source.polarPatterns.flatMap { pattern in
        pattern == .stereo
          ? source.stereoOrientations.map {
            FilterCase(dataSource: source.name, polarPattern: pattern, inputOrientation: $0)
          }
          : [FilterCase(dataSource: source.name, polarPattern: pattern, inputOrientation: nil)]
      }
    }
  }

  /// The case that `selection` asks for, if this device offers it.
  public func filterCase(for selection: Selection) throws -> FilterCase {
    let source = try dataSource(named: selection.dataSource)
    guard source.polarPatterns.contains(selection.polarPattern) else {
      throw Unsupported(
        "data source \(source.name) of \(name) does not offer \(selection.polarPattern.rawValue); it offers "
          + source.polarPatterns.map(\.rawValue).joined(separator: ", "))
    }
    let orientation = selection.inputOrientation
    if selection.polarPattern == .stereo, !source.stereoOrientations.contains(orientation) {
      throw Unsupported(
        "data source \(source.name) of \(name) has no stereo in \(orientation.rawValue); it has stereo in "
          + source.stereoOrientations.map(\.rawValue).joined(separator: ", "))
    }
    return FilterCase(
      dataSource: source.name, polarPattern: selection.polarPattern, inputOrientation: orientation)
  }
}
