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
