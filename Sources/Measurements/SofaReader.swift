import Acoustics
import CMysofa
import FoundationEssentials
import Glibc
import Numerics
import Text
import Threads

/// The helper process that reads a SOFA file from standard input and writes its contents to standard output.
///
/// Exit status 0: the output is counts and sample rate, directions, receivers, delays and samples, in native byte
/// order. Exit status 1: the output is an error message, the rest of a sentence that begins with the file's name.
package enum SofaReader {
  /// The command-line argument that makes `pinna` run as the helper process.
  package static let argument = "--read-sofa"
  /// Limit of the address space, in bytes.
  private static let memory: rlim_t = 3 << 30
  /// Three counts and the sample rate, as 8-byte floats.
  private static let headerSize = 32

  package static func run() -> Int32 {
    var status = stat()
    fstat(STDIN_FILENO, &status)
    // Limit of CPU time, in seconds: 2 s plus 1 s per 8 MiB. A well-formed file takes 1 s for 32 MiB.
    limit(RLIMIT_CPU, to: 2 + rlim_t(max(0, status.st_size)) >> 23)
    limit(RLIMIT_AS, to: memory)
    limit(RLIMIT_CORE, to: 0)
    var output = Data()
    var result: Int32 = 0
    do throws(DesignError) { output = try encode(load(size: Int(status.st_size))) } catch {
      output = Data(error.description.utf8)
      result = 1
    }
    if !Descriptor.writeAll(output, to: STDOUT_FILENO) { result = 2 }
    return result
  }

  private static func limit(_ resource: __rlimit_resource, to most: rlim_t) {
    var limit = rlimit(rlim_cur: most, rlim_max: most)
    setrlimit(__rlimit_resource_t(resource.rawValue), &limit)
  }

  /// Reads the file that is standard input, of `size` bytes.
  private static func load(size: Int) throws(DesignError) -> ImpulseResponses {
    let map = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, STDIN_FILENO, 0)
    guard size > 0, let map, map != MAP_FAILED else {
      throw DesignError("cannot be read: \(String(cString: strerror(errno))); try again")
    }
    defer { munmap(map, size) }
    let outline = SofaOutline(UnsafeMutableRawBufferPointer(start: map, count: size))
    try outline.check()
    outline.simplify()
    var status: Int32 = 0
    guard let file = mysofa_load_data(map.assumingMemoryBound(to: CChar.self), size, &status) else {
      throw DesignError(refusal(status))
    }
    defer { mysofa_free(file) }
    let sofa = file.pointee
    let type = attribute("DataType", sofa.attributes) ?? ""
    guard ["FIR", "FIR-E"].contains(type) else {
      throw DesignError("has data of type \(type.quoted), not \"FIR\"; give \(SofaFile.kind)")
    }
    guard type == "FIR" || sofa.E == 1 else {
      throw DesignError(
        "has responses to \(sofa.E) emitters at once (data of type \"FIR-E\"); write a file for each emitter")
    }
    let (count, channels, frames) = (Int(sofa.M), Int(sofa.R), Int(sofa.N))
    let (pairs, overflow1) = count.multipliedReportingOverflow(by: channels)
    let (size, overflow2) = pairs.multipliedReportingOverflow(by: frames)
    guard sofa.C == 3, count > 0, channels > 0, frames > 0, !overflow1, !overflow2 else {
      throw DesignError(
        "has invalid dimensions: \(count) measurements, \(channels) receivers, \(frames) samples; give \(SofaFile.kind)"
      )
    }
    guard size <= ImpulseResponses.valueLimit else {
      throw DesignError(
        "contains \(size) samples, more than the maximum of \(ImpulseResponses.valueLimit); shorten its impulse responses"
      )
    }
    let values = numbers(sofa.DataIR)
    let rates = numbers(sofa.DataSamplingRate)
    let delays = numbers(sofa.DataDelay)
    guard values.count == size, [0, channels, pairs].contains(delays.count) else {
      throw DesignError(
        "does not contain \(frames) samples for each of \(count) measurements of \(channels) receivers; export it again"
      )
    }
    guard let rate = rates.first, rates.allSatisfy({ $0 == rate }),
      ImpulseResponses.sampleRates.contains(rate)
    else {
      throw DesignError("has no single sample rate from 8000 to 400000 Hz; export it again")
    }
    return ImpulseResponses(
      file: "", sampleRate: rate, directions: try directions(sofa, count: count), channels: channels,
      frames: frames, values: values,
      delays: delays.isEmpty
        ? [Double](repeating: 0, count: pairs) : (0..<pairs).map { delays[$0 % delays.count] },
      receivers: receivers(sofa.ReceiverPosition, count: channels))
  }

  /// The rest of a sentence for what libmysofa answers to a file that it does not read.
  private static func refusal(_ status: Int32) -> String {
    switch Int(status) {
    case MYSOFA_INVALID_FORMAT:
      "is not arranged as SOFA: a dimension or an attribute is missing, or not as SOFA has it; write it again with a "
        + "SOFA library"
    case MYSOFA_UNSUPPORTED_FORMAT:
      "has a form of HDF5 that libmysofa does not read, such as single precision or another compression; write it "
        + "again as netCDF-4 in double precision"
    case MYSOFA_NO_MEMORY, Int(ENOMEM):
      "claims more data than there is memory for; write it again with a SOFA library"
    default: "is damaged, or ends before its end; copy it again"
    }
  }

  /// The position of each receiver, the same for all measurements: forward, left, up. Empty if the file has other
  /// numbers.
  private static func receivers(_ array: MYSOFA_ARRAY, count: Int) -> [SIMD3<Double>] {
    let (values, measurements) = (Int(array.elements), Int(array.elements) / (3 * count))
    guard measurements > 0, values == 3 * count * measurements else { return [] }
    let numbers = numbers(array)
    // Shape `[receiver][coordinate][measurement]`.
    let first = stride(from: 0, to: values, by: measurements).map { numbers[$0] }
    return vectors(first, array.attributes)
  }

  /// Unit vectors towards the sources in the listener's coordinates: forward (SOFA's view), left, up. The listener is
  /// the head or the array.
  private static func directions(_ sofa: MYSOFA_HRTF, count: Int) throws(DesignError) -> [SIMD3<Double>] {
    let sources = vectors(sofa.SourcePosition)
    let listeners = vectors(sofa.ListenerPosition)
    let views = vectors(sofa.ListenerView)
    let ups = vectors(sofa.ListenerUp)
    var directions: [SIMD3<Double>] = []
    for row in 0..<count {
      // A SOFA variable has one row for all measurements, or one row per measurement.
      func vector(_ list: [SIMD3<Double>], or fallback: SIMD3<Double>) -> SIMD3<Double>? {
        list.isEmpty ? fallback : list.count == 1 ? list[0] : row < list.count ? list[row] : nil
      }
      guard !sources.isEmpty, let source = vector(sources, or: .zero),
        let listener = vector(listeners, or: .zero),
        let forward = Direction(vector(views, or: [1, 0, 0]) ?? .zero)?.vector,
        let left = Direction((vector(ups, or: [0, 0, 1]) ?? .zero).cross(forward))?.vector,
        let towards = Direction(source - listener)?.vector
      else {
        throw DesignError(
          "has no valid source direction for measurement \(row + 1); export it again with SourcePosition, "
            + "ListenerPosition, ListenerView and ListenerUp")
      }
      directions.append([towards.dot(forward), towards.dot(left), towards.dot(forward.cross(left))])
    }
    return directions
  }

  private static func numbers(_ array: MYSOFA_ARRAY) -> [Double] {
    guard let values = array.values else { return [] }
    return (0..<Int(array.elements)).map { Double(values[$0]) }
  }

  private static func vectors(_ array: MYSOFA_ARRAY) -> [SIMD3<Double>] {
    vectors(numbers(array), array.attributes)
  }

  /// Positions as Cartesian triples. Spherical ones (azimuth, elevation, radius) are converted; `Units` says whether
  /// their angles are in degrees or in radians.
  private static func vectors(
    _ numbers: [Double], _ attributes: UnsafeMutablePointer<MYSOFA_ATTRIBUTE>?
  ) -> [SIMD3<Double>] {
    let isSpherical = attribute("Type", attributes)?.lowercased() == "spherical"
    let isInRadians = attribute("Units", attributes)?.lowercased().hasPrefix("rad") ?? false
    func angle(_ value: Double) -> Angle { isInRadians ? Angle(radians: value) : .degrees(value) }
    return stride(from: 0, to: numbers.count - 2, by: 3).map { at in
      guard isSpherical else { return SIMD3(numbers[at], numbers[at + 1], numbers[at + 2]) }
      return numbers[at + 2]
        * sphericalUnit(azimuth: angle(numbers[at]), elevation: angle(numbers[at + 1]))
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
    let receivers: [SIMD3<Double>] =
      responses.receivers.isEmpty
      ? Array(repeating: .zero, count: responses.channels) : responses.receivers
    let numbers =
      counts + [responses.sampleRate] + (responses.directions + receivers).flatMap { [$0.x, $0.y, $0.z] }
      + responses.delays
    // Samples are single precision: libmysofa returns them so.
    return numbers.withUnsafeBytes { Data($0) }
      + responses.values.map { Float($0) }.withUnsafeBytes { Data($0) }
  }

  /// Decodes the output of `encode`; nil if its size is inconsistent or a value is not finite or out of range.
  package static func decode(_ data: Data, file: String) -> ImpulseResponses? {
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
      data.count == headerSize + 8 * (3 * (count + channels) + pairs) + 4 * size
    else { return nil }
    let components = doubles(3 * (count + channels), at: headerSize)
    let delays = doubles(pairs, at: headerSize + 24 * (count + channels))
    let samples = headerSize + 8 * (3 * (count + channels) + pairs)
    let values = data.withUnsafeBytes { bytes in
      (0..<size).map { Double(bytes.loadUnaligned(fromByteOffset: samples + 4 * $0, as: Float.self)) }
    }
    guard (components + delays).allSatisfy(\.isFinite), values.allSatisfy({ abs($0) < 1e6 }),
      delays.allSatisfy({ abs($0) < 1e6 })
    else { return nil }
    let vectors = (0..<count + channels).map {
      SIMD3(components[3 * $0], components[3 * $0 + 1], components[3 * $0 + 2])
    }
    return ImpulseResponses(
      file: file, sampleRate: header[3], directions: Array(vectors[..<count]), channels: channels,
      frames: frames, values: values, delays: delays, receivers: Array(vectors[count...]))
  }
}
