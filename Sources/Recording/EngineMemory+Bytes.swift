import AudioFiles
import Realtime

/// The engine's memory as it stands in a take's file of microphones, behind the sound: little-endian numbers of 32 bits
/// for microphones, their frames, and outputs, then samples, what mutes and fades them, and the high-passes' values.
extension EngineMemory {
  private static let version = Array("v002".utf8)
  /// Without what mutes and fades microphones.
  private static let oldVersion = Array("v001".utf8)

  var bytes: [UInt8] {
    var bytes = Self.version
    func add<Number: FixedWidthInteger>(_ number: Number) {
      withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
    }
    for count in [microphones.count, microphones.first?.count ?? 0, highPasses.count] { add(UInt32(count)) }
    bytes.reserveCapacity(16 + 4 * microphones.joined().count)
    for sample in microphones.joined() { add(sample.bitPattern) }
    for input in inputs {
      let dropout = input.dropout
      for number in [input.cleanFrames, dropout.isOut ? 1 : 0, dropout.toneAge, dropout.signalAge] {
        add(UInt32(clamping: number))
      }
      for value in [dropout.re, dropout.im, dropout.cosine, dropout.sine] { add(value.bitPattern) }
    }
    for values in highPasses {
      add(values.x.bitPattern)
      add(values.y.bitPattern)
    }
    return bytes
  }

  /// Nil if `bytes` are not such a memory.
  init?(_ bytes: [UInt8]) {
    let isOld = bytes.starts(with: Self.oldVersion)
    guard bytes.count >= 16, isOld || bytes.starts(with: Self.version) else { return nil }
    func number<Number: FixedWidthInteger>(_ at: Int, _ type: Number.Type) -> Number {
      (0..<MemoryLayout<Number>.size).reduce(0) { $0 | Number(bytes[at + $1]) << (8 * $1) }
    }
    let (count, frames, outputs) = (
      Int(number(4, UInt32.self)), Int(number(8, UInt32.self)), Int(number(12, UInt32.self))
    )
    guard (1...Partitioning.mostMicrophones).contains(count), frames <= 1 << 22, outputs <= 64,
      bytes.count == 16 + 4 * count * frames + (isOld ? 0 : 32 * count) + 16 * outputs
    else { return nil }
    self.init()
    microphones = (0..<count).map { m in
      (0..<frames).map { Float(bitPattern: number(16 + 4 * (m * frames + $0), UInt32.self)) }
    }
    let inputsStart = 16 + 4 * count * frames
    inputs = (0..<(isOld ? 0 : count)).map { m in
      let at = inputsStart + 32 * m
      let ages = (0..<4).map { Int(number(at + 4 * $0, UInt32.self)) }
      let tone = (0..<4).map { Float(bitPattern: number(at + 16 + 4 * $0, UInt32.self)) }
      var dropout = DropoutFade.State(toneAge: ages[2], signalAge: ages[3])
      dropout.isOut = ages[1] == 1
      (dropout.re, dropout.im, dropout.cosine, dropout.sine) = (tone[0], tone[1], tone[2], tone[3])
      return InputMemory(cleanFrames: ages[0], dropout: dropout)
    }
    // Else the tone would grow.
    let areRotations = inputs.map(\.dropout).allSatisfy { tone in
      let length: Float = tone.cosine * tone.cosine + tone.sine * tone.sine
      return (length - 1).magnitude < 1e-3 && [tone.re, tone.im].allSatisfy(MicrophoneGuard.isValid)
    }
    guard areRotations else { return nil }
    let start = inputsStart + 32 * inputs.count
    highPasses = (0..<outputs).map { n in
      SIMD2(
        Double(bitPattern: number(start + 16 * n, UInt64.self)),
        Double(bitPattern: number(start + 16 * n + 8, UInt64.self)))
    }
    guard highPasses.allSatisfy({ $0.x.isFinite && $0.y.isFinite }) else { return nil }
  }
}

extension Sidecar {
  /// What the engine remembered at the first frame after the pre-roll; nil if the take's files do not hold it.
  /// - Parameter folder: of the take's files, ending in a slash, or empty for the working folder.
  public func memory(in folder: String) -> EngineMemory? {
    guard let engine, let name = files[0].microphones,
      let chunk = (try? AudioFileReader(path: folder + name))?.privateChunk, var memory = EngineMemory(chunk),
      memory.microphones.count == setup.microphones.count, engine.period > 0,
      memory.microphones[0].count % engine.period == 0
    else { return nil }
    (memory.period, memory.frame) = (engine.period, engine.frame)
    memory.instructionSet = InstructionSet(rawValue: engine.instructionSet) ?? .best
    return memory
  }
}
