import Foundation

/// Impulse responses from a SOFA file (AES69), of any number of receivers.
///
/// libmysofa, which reads them, can be made to hang or crash by files that are made for it. So a process of our own
/// reads the file (`SofaReader`, the program `pinna` beside the running one or in the PATH), with limits on its time and memory, and
/// what it writes is checked here like any other input.
enum SofaFile {
  static let kind = "a SOFA file of impulse responses"

  static func read(path: String) throws(DesignError) -> ImpulseResponses {
    let file = try InputFile(path: path, kind: kind)
    let (output, status) = try runReader(on: file)
    switch status {
    case .exit(0): break
    case .exit(1):
      throw DesignError("\(path) \(String(decoding: output.prefix(400), as: UTF8.self))")
    default:
      throw DesignError(
        "\(path) cannot be read: libmysofa did not get through it; export it again, as \(kind)")
    }
    guard let responses = SofaReader.decode(output, file: path) else {
      throw DesignError(
        "\(path) holds values that are not numbers or make no sense; export it again, as \(kind)")
    }
    return responses
  }

  private enum Status {
    case exit(Int32)
    case other
  }

  private static func runReader(on file: InputFile) throws(DesignError) -> (Data, Status) {
    let running = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let beside = running.deletingLastPathComponent().appendingPathComponent("pinna")
    // A program that links PinnaSession has none beside it.
    let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    let program =
      ([beside] + path.map { URL(fileURLWithPath: "\($0)/pinna") }).first {
        FileManager.default.isExecutableFile(atPath: $0.path)
      } ?? beside
    let process = Process()
    let pipe = Pipe()
    process.executableURL = program
    process.arguments = [SofaReader.word]
    process.environment = ["SWIFT_BACKTRACE": "enable=no", "OPENBLAS_NUM_THREADS": "1", "LC_ALL": "C"]
    process.standardInput = FileHandle(fileDescriptor: file.descriptor, closeOnDealloc: false)
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    do {
      try process.run()
      // Ends when the reader does; it writes no more than `SofaReader.outputLimit`.
      let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      return (output, process.terminationReason == .exit ? .exit(process.terminationStatus) : .other)
    } catch {
      throw DesignError(
        "\(file.path) cannot be read: \(program.path), which reads SOFA files, does not start; install Pinna again"
      )
    }
  }
}
