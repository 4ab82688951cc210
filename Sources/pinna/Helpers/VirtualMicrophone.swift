import FoundationEssentials
import Glibc
import JackClient
import Messages
import Settings
import Text
import Threads

/// A microphone that PipeWire offers to the desktop's programs, and that Pinna's outputs feed.
///
/// The node belongs to a `pw-cli`, which a helper process keeps: `pinna` with the argument `word`. When Pinna ends,
/// however it does, the helper's socket is closed, it ends `pw-cli`, and PipeWire removes the node. When PipeWire
/// restarts, `pw-cli` ends, and both are started again.
///
/// Thread: any; immutable.
struct VirtualMicrophone: Sendable {
  /// The command-line argument that makes `pinna` the helper process.
  static let word = "--hold-virtual-microphone"
  private static let program = "/usr/bin/pw-cli"

  /// The node's JACK ports, left and right.
  let ports: [String]

  /// Returns before the node exists; the outputs are connected to it when it does.
  /// - Parameter server: the daemon's socket; nil for the default one.
  /// - Throws: `Failure` if the name or this system does not allow it.
  init(name: String, server: String?) throws {
    let isUsable =
      !name.isEmpty && name.utf8.count <= 40
      && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || " -_".contains($0)) }
    guard isUsable else {
      throw Failure(
        .usage,
        "the microphone name \(name.quoted) is not usable; give up to 40 letters, digits, spaces, hyphens, underscores"
      )
    }
    guard JackLibrary.isPipeWire else {
      throw Failure(.failed, "--virtual-microphone needs PipeWire; start with: pw-jack pinna run …")
    }
    guard access(Self.program, X_OK) == 0 else {
      throw Failure(.failed, "\(Self.program) is missing; install it with: apt-get install pipewire-bin")
    }
    ports = ["\(name):input_FL", "\(name):input_FR"]
    try BackgroundThread.start("pinna vmic") {
      while true {
        if let helper = HelperProcess(words: [Self.word, name] + (server.map { [$0] } ?? [])) {
          while helper.ask([0]) == [1] { usleep(300_000) }
        }
        usleep(300_000)
      }
    }
  }

  /// Keeps the node until the parent process ends.
  ///
  /// Thread: main thread of the helper process.
  /// - Parameter words: the name, and the daemon's socket unless it is the default one.
  /// - Returns: the exit status of the process.
  static func hold(_ words: [String]) -> Int32 {
    guard let name = words.first, let pipe = PipeEnds(),
      let process = try? ChildProcess(
        program, words.dropFirst().first.map { ["-r", $0] } ?? [], input: pipe.reading)
    else { return 1 }
    let order =
      "create-node adapter { factory.name=support.null-audio-sink node.name=\"\(name)\" "
      + "node.description=\"\(name)\" device.icon-name=\"audio-input-microphone\" "
      // Below sound cards, so that it does not become the desktop's default microphone by itself.
      + "priority.session=500 media.class=Audio/Source/Virtual audio.position=[FL FR] "
      // Without it, the node has no ports where no session manager runs.
      + "adapter.auto-port-config={ mode=dsp monitor=true position=preserve } }\n"
    Descriptor.writeAll(order.utf8, to: pipe.writing)
    HelperProcess.serve { _ in [process.isRunning ? 1 : 0] }
    // `pw-cli` does not end with its input.
    process.terminate()
    process.waitUntilExit()
    return 0
  }
}
