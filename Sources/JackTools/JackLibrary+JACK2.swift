import FoundationEssentials
import Glibc
import JackClient
import Messages
import Settings

extension JackLibrary {
  /// Continues with JACK2's library if this process has loaded PipeWire's, for verbs with a private jackd: executes the
  /// program anew, with an environment in which the system's linker finds JACK2's.
  /// - Throws: `Failure` if there is no JACK2 library.
  package static func useJACK2() throws {
    guard isPipeWire else { return }
    let environment = ProcessInfo.processInfo.environment
    let folders = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib"))?.map { "/usr/lib/" + $0 }
    let folder = (folders ?? []).sorted().first { access($0 + "/libjack.so.0", R_OK) == 0 }
    guard environment[marker] == nil, let folder else {
      throw Failure(.failed, "there is no JACK2 library for a private jackd; install libjack-jackd2-0")
    }
    let others = (environment["LD_LIBRARY_PATH"] ?? "").split(separator: ":").filter {
      !$0.contains("pipewire")
    }
    setenv("LD_LIBRARY_PATH", ([folder] + others.map(String.init)).joined(separator: ":"), 1)
    setenv(marker, "1", 1)
    var words = CommandLine.arguments.map { strdup($0) } + [nil]
    execv("/proc/self/exe", &words)
    throw Failure(
      .failed, "cannot start again without PipeWire's libjack: \(String(cString: strerror(errno)))")
  }

  /// Set in the environment of the second execution, so that there is no third.
  private static let marker = "PINNA_WITHOUT_PIPEWIRE"
}
