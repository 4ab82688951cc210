import AudioFiles
import Realtime

/// The engine's memory as it stands in a take's file of microphones, behind the sound: little-endian numbers of 32 bits
/// for microphones, their frames, and outputs, then samples and the high-passes' values.
extension EngineMemory {
  private static let version = Array("v001".utf8)

  var bytes: [UInt8] {
    var bytes = Self.version
    func add<Number: FixedWidthInteger>(_ number: Number) {
      withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
    }
    for count in [microphones.count, microphones.first?.count ?? 0, highPasses.count] { add(UInt32(count)) }
    bytes.reserveCapacity(16 + 4 * microphones.joined().count)
    for sample in microphones.joined() { add(sample.bitPattern) }
    for values in highPasses {
      add(values.x.bitPattern)
      add(values.y.bitPattern)
    }
    return bytes
  }

  /// Nil if `bytes` are not such a memory.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 16, bytes.starts(with: Self.version) else { return nil }
    func number<Number: FixedWidthInteger>(_ at: Int, _ type: Number.Type) -> Number {
      (0..<MemoryLayout<Number>.size).reduce(0) { $0 | Number(bytes[at + $1]) << (8 * $1) }
    }
    let (count, frames, outputs) = (
      Int(number(4, UInt32.self)), Int(number(8, UInt32.self)), Int(number(12, UInt32.self))
    )
    guard (1...Partitioning.mostMicrophones).contains(count), frames <= 1 << 22, outputs <= 64,
      bytes.count == 16 + 4 * count * frames + 16 * outputs
    else { return nil }
    self.init()
    microphones = (0..<count).map { m in
      (0..<frames).map { Float(bitPattern: number(16 + 4 * (m * frames + $0), UInt32.self)) }
    }
    let start = 16 + 4 * count * frames
    highPasses = (0..<outputs).map { n in
      SIMD2(
        Double(bitPattern: number(start + 16 * n, UInt64.self)),
        Double(bitPattern: number(start + 16 * n + 8, UInt64.self)))
    }
  }
}

extension Sidecar {
  /// What the engine remembered at the first frame after the pre-roll; nil if the take's files do not hold it.
  /// - Parameter folder: of the take's files, ending in a slash, or empty for the working folder.
  public func memory(in folder: String) -> EngineMemory? {
    guard let engine, let name = files[0].microphones,
      let chunk = (try? AudioFileReader(path: folder + name))?.privateChunk, var memory = EngineMemory(chunk),
      memory.microphones.count == setup.microphones.count
    else { return nil }
    (memory.period, memory.frame) = (engine.period, engine.frame)
    memory.instructionSet = InstructionSet(rawValue: engine.instructionSet) ?? .best
    return memory
  }
}
