/// Order statistics of times in microseconds.
struct Percentiles: Encodable {
  let min, p50, p99, p999, max: Double

  init(_ times: [Double]) {
    let sorted = times.sorted()
    func at(_ part: Double) -> Double {
      sorted[Swift.min(sorted.count - 1, Int(part * Double(sorted.count)))]
    }
    min = sorted[0]
    p50 = at(0.5)
    p99 = at(0.99)
    p999 = at(0.999)
    max = sorted[sorted.count - 1]
  }
}
