extension Device {
  /// The device with one case: B-format of the pattern, data source and input orientation of `selection`. Its filters
  /// come from all microphones. A data source that offers no stereo has B-format, too.
  /// - Throws: `UnknownWord` for an unknown data source; `Unsupported` if the device is never held that way.
  public func ambisonics(_ selection: Selection) throws -> Device {
    let order = selection.polarPattern.ambisonicsOrder
    precondition(order != nil, "a selection of B-format")
    let source = try dataSource(named: selection.dataSource)
    guard microphones.count > 1 else {
      throw Unsupported("\(name) has one microphone, which hears no directions; B-format needs more")
    }
    // Even the horizontal channels of an order need as many microphones as they are. A design of minutes would say so.
    if let order, order > 1, microphones.count < 2 * order + 1 {
      throw Unsupported(
        "B-format of order \(order) needs at least \(2 * order + 1) microphones, and \(name) has \(microphones.count); "
          + "order \(max(1, (microphones.count - 1) / 2)) is the highest that can be offered"
      )
    }
    let orientation = selection.inputOrientation
    guard placement.orientations.contains(orientation),
      DataSource.fault(of: orientation, forward: source.forward, placement) == nil
    else {
      throw Unsupported(
        "data source \(source.name) of \(name) has no left and right in \(orientation.rawValue), which B-format needs"
      )
    }
    return try with(dataSources: [
      source.offering([selection.polarPattern], in: [orientation])
    ])
  }
}

extension DataSource {
  /// Whether it is one of a device that `Device.ambisonics` made.
  public var offersAmbisonics: Bool { polarPatterns.contains { $0.ambisonicsOrder != nil } }
}
