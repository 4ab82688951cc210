import AudioFiles
import FoundationEssentials
import Glibc
import Numerics
import Threads

/// Reads impulse responses from a SOFA file (AES69) with any number of receivers.
///
/// Crafted files can make libmysofa hang or crash. A helper process (`SofaReader` in `HelperProcess.program`) therefore
/// reads the file, with limits on its CPU time and memory. Its output is validated here like any other input.
package enum SofaFile {
  static let kind = "a SOFA file of impulse responses"

  package static func read(path: String) throws(DesignError) -> ImpulseResponses {
    let file = try InputFile.measurement(path, kind: kind)
    let (output, status) = try runReader(on: file)
    switch status {
    case .exit(0): break
    case .exit(1):
      throw DesignError("\(path) \(String(decoding: output.prefix(400), as: UTF8.self))")
    default:
      throw DesignError(
        "\(path) cannot be read: libmysofa crashed or ran out of time or memory; export it again as \(kind)")
    }
    guard let responses = SofaReader.decode(output, file: path) else {
      throw DesignError(
        "\(path) contains invalid values (NaN, infinity, or out of range); export it again as \(kind)")
    }
    return responses
  }

  private static func runReader(on file: InputFile) throws(DesignError) -> (Data, ChildProcess.End) {
    guard let program = HelperProcess.program else {
      throw DesignError(
        "\(file.path) cannot be read: the program pinna, which reads SOFA files, is neither next to this program nor in the PATH; install Pinna"
      )
    }
    guard let pipe = PipeEnds(),
      let process = try? ChildProcess(
        program, [SofaReader.argument],
        environment: ["SWIFT_BACKTRACE": "enable=no", "OPENBLAS_NUM_THREADS": "1", "LC_ALL": "C"],
        input: file.descriptor, output: pipe.writing)
    else {
      throw DesignError(
        "\(file.path) cannot be read: \(program), which reads SOFA files, cannot be started; reinstall Pinna"
      )
    }
    pipe.closeWriting()
    // Returns when the reader closes its output. `SofaReader` and `ImpulseResponses.valueLimit` bound the size.
    let output = Descriptor.readAll(pipe.reading) ?? []
    return (Data(output), process.waitUntilExit())
  }
}
