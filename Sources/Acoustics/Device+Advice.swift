extension Device {
  /// What to change if the placement is probably missing in the device file: the array is flat in x-y and looks along y, as
  /// in a drawing of an array that lies on a table. Nil if nothing seems wrong.
  public var placementAdvice: String? {
    guard [.upright, .camera].contains(placement), body == .free, microphones.count >= 2 else { return nil }
    let extent = extent
    guard extent.z <= 0.1 * max(extent.x, extent.y) else { return nil }
    let looksAlong = dataSources.filter { abs($0.forward.vector.y) > 0.9 }
    guard !looksAlong.isEmpty, looksAlong.count * 2 >= dataSources.count else { return nil }
    return
      "this array lies in x-y, and \(looksAlong[0].name) looks along y; if it is drawn lying on a table, write placement: table"
  }

  /// Whether its microphones are at different heights, or face different ones.
  /// - Parameter up: where up is in the device frame.
  package func hasHeight(along up: Direction) -> Bool {
    let heights = microphones.map { $0.position.dot(up.vector) }
    let extent = extent
    let height = (heights.max() ?? 0) - (heights.min() ?? 0)
    return height > 0.1 * max(extent.x, extent.y, extent.z)
      || microphones.contains { abs($0.capsule?.facing.vector.dot(up.vector) ?? 0) > 0.1 }
  }

  /// The size of the array along the axes of the device frame, in metres.
  public var extent: SIMD3<Double> {
    let positions = microphones.map(\.position)
    guard var low = positions.first else { return .zero }
    var high = low
    for position in positions {
      low.replace(with: position, where: position .< low)
      high.replace(with: position, where: position .> high)
    }
    return high - low
  }
}
