import Acoustics
import CMysofa
import Foundation

/// The process that reads a SOFA file from its standard input and writes what is in it to its standard output.
///
/// Status 0: counts and rate, directions, delays and samples in this machine's byte order. Status 1: the rest of a
/// sentence that begins with the file's name.
package enum SofaReader {
  /// The word that makes `pinna` a reader.
  package static let word = "--read-sofa"
  /// In bytes.
  private static let memory: rlim_t = 3 << 30
  private static let headerSize = 32

  package static func run() -> Int32 {
    var status = stat()
    fstat(STDIN_FILENO, &status)
    // Seconds of processor time. A good file takes 1 s for 32 MiB.
    limit(RLIMIT_CPU, to: 2 + rlim_t(max(0, status.st_size)) >> 23)
    limit(RLIMIT_AS, to: memory)
    limit(RLIMIT_CORE, to: 0)
    var output = Data()
    var result: Int32 = 0
    do { output = try encode(load("/dev/stdin")) } catch {
      output = Data(error.description.utf8)
      result = 1
    }
    do { try FileHandle.standardOutput.write(contentsOf: output) } catch { result = 2 }
    return result
  }

  private static func limit(_ resource: __rlimit_resource, to most: rlim_t) {
    var limit = rlimit(rlim_cur: most, rlim_max: most)
    setrlimit(__rlimit_resource_t(resource.rawValue), &limit)
  }

  private static func load(_ path: String) throws(DesignError) -> ImpulseResponses {
    var status: Int32 = 0
    guard let file = mysofa_load(path, &status) else {
      throw DesignError("is not a SOFA file that libmysofa reads (error \(status)); give \(SofaFile.kind)")
    }
    defer { mysofa_free(file) }
    let sofa = file.pointee
    let type = attribute("DataType", sofa.attributes) ?? ""
    guard type == "FIR" else {
      throw DesignError("has data of the type \(type.debugDescription), not \"FIR\"; give \(SofaFile.kind)")
    }
    let (count, channels, frames) = (Int(sofa.M), Int(sofa.R), Int(sofa.N))
    let (pairs, overflow1) = count.multipliedReportingOverflow(by: channels)
    let (size, overflow2) = pairs.multipliedReportingOverflow(by: frames)
    guard sofa.C == 3, count > 0, channels > 0, frames > 0, !overflow1, !overflow2 else {
      throw DesignError(
        "claims \(count) measurements of \(channels) receivers with \(frames) samples each; give \(SofaFile.kind)"
      )
    }
    guard size <= ImpulseResponses.valueLimit else {
      throw DesignError(
        "holds \(size) samples, more than the \(ImpulseResponses.valueLimit) that are read; shorten its responses"
      )
    }
    let values = numbers(sofa.DataIR)
    let rates = numbers(sofa.DataSamplingRate)
    let delays = numbers(sofa.DataDelay)
    guard values.count == size, [0, channels, pairs].contains(delays.count) else {
      throw DesignError(
        "does not hold \(frames) samples for each of \(count) measurements of \(channels) receivers; export it again"
      )
    }
    guard let rate = rates.first, rates.allSatisfy({ $0 == rate }),
      ImpulseResponses.sampleRates.contains(rate)
    else {
      throw DesignError("has no one sample rate from 8000 to 400000 Hz; export it again")
    }
    return ImpulseResponses(
      file: path, sampleRate: rate, directions: try directions(sofa, count: count), channels: channels,
      frames: frames, values: values,
      delays: delays.isEmpty
        ? [Double](repeating: 0, count: pairs) : (0..<pairs).map { delays[$0 % delays.count] })
  }

  /// Towards each source as the listener (the array) sees it: forward (its view), left, up.
  private static func directions(_ sofa: MYSOFA_HRTF, count: Int) throws(DesignError) -> [SIMD3<Double>] {
    let sources = vectors(sofa.SourcePosition)
    let listeners = vectors(sofa.ListenerPosition)
    let views = vectors(sofa.ListenerView)
    let ups = vectors(sofa.ListenerUp)
    var directions: [SIMD3<Double>] = []
    for row in 0..<count {
      func vector(_ list: [SIMD3<Double>], or other: SIMD3<Double>) -> SIMD3<Double>? {
        list.isEmpty ? other : list.count == 1 ? list[0] : row < list.count ? list[row] : nil
      }
      guard !sources.isEmpty, let source = vector(sources, or: .zero),
        let listener = vector(listeners, or: .zero),
        let forward = Direction(vector(views, or: [1, 0, 0]) ?? .zero)?.vector,
        let left = Direction((vector(ups, or: [0, 0, 1]) ?? .zero).cross(forward))?.vector,
        let towards = Direction(source - listener)?.vector
      else {
        throw DesignError(
          "does not say where the source of measurement \(row + 1) is as the listener sees it; export it again "
            + "with positions of sources, and view and up of the listener")
      }
      directions.append([towards.dot(forward), towards.dot(left), towards.dot(forward.cross(left))])
    }
    return directions
  }

  private static func numbers(_ array: MYSOFA_ARRAY) -> [Double] {
    guard let values = array.values else { return [] }
    return (0..<Int(array.elements)).map { Double(values[$0]) }
  }

  /// Triples, made Cartesian where they are spherical (azimuth, elevation in degrees, radius).
  private static func vectors(_ array: MYSOFA_ARRAY) -> [SIMD3<Double>] {
    let numbers = numbers(array)
    let isSpherical = attribute("Type", array.attributes) == "spherical"
    return stride(from: 0, to: numbers.count - 2, by: 3).map { at in
      guard isSpherical else { return SIMD3(numbers[at], numbers[at + 1], numbers[at + 2]) }
      return numbers[at + 2]
        * sphericalUnit(azimuth: .degrees(numbers[at]), elevation: .degrees(numbers[at + 1]))
    }
  }

  private static func attribute(_ name: String, _ first: UnsafeMutablePointer<MYSOFA_ATTRIBUTE>?) -> String? {
    var next = first
    while let attribute = next?.pointee {
      if let key = attribute.name, String(cString: key) == name {
        return attribute.value.map { String(cString: $0) }
      }
      next = attribute.next
    }
    return nil
  }
}

extension SofaReader {
  private static func encode(_ responses: ImpulseResponses) -> Data {
    let counts = [responses.directions.count, responses.channels, responses.frames].map { Double($0) }
    let numbers =
      counts + [responses.sampleRate] + responses.directions.flatMap { [$0.x, $0.y, $0.z] } + responses.delays
    // Samples come from libmysofa as single floats.
    return numbers.withUnsafeBytes { Data($0) }
      + responses.values.map { Float($0) }.withUnsafeBytes { Data($0) }
  }

  /// What `encode` wrote, if it fits together and everything in it is a number.
  static func decode(_ data: Data, file: String) -> ImpulseResponses? {
    func doubles(_ count: Int, at offset: Int) -> [Double] {
      (0..<count).map { i in
        data.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset + 8 * i, as: Double.self) }
      }
    }
    guard data.count >= headerSize else { return nil }
    let header = doubles(4, at: 0)
    guard header.allSatisfy({ (1...1e9).contains($0) }) else { return nil }
    let (count, channels, frames) = (Int(header[0]), Int(header[1]), Int(header[2]))
    let (pairs, overflow1) = count.multipliedReportingOverflow(by: channels)
    let (size, overflow2) = pairs.multipliedReportingOverflow(by: frames)
    guard !overflow1, !overflow2, size <= ImpulseResponses.valueLimit,
      data.count == headerSize + 8 * (3 * count + pairs) + 4 * size
    else { return nil }
    let components = doubles(3 * count, at: headerSize)
    let delays = doubles(pairs, at: headerSize + 24 * count)
    let samples = headerSize + 8 * (3 * count + pairs)
    let values = data.withUnsafeBytes { bytes in
      (0..<size).map { Double(bytes.loadUnaligned(fromByteOffset: samples + 4 * $0, as: Float.self)) }
    }
    guard (components + delays).allSatisfy(\.isFinite), values.allSatisfy({ abs($0) < 1e6 }),
      delays.allSatisfy({ abs($0) < 1e6 })
    else { return nil }
    return ImpulseResponses(
      file: file, sampleRate: header[3],
      directions: (0..<count).map { [components[3 * $0], components[3 * $0 + 1], components[3 * $0 + 2]] },
      channels: channels, frames: frames, values: values, delays: delays)
  }
}
