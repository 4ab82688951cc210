import FasterKernels
import Foundation
import JackClient
import Messages
import Realtime
import Settings
import Threads

let words = Array(CommandLine.arguments.dropFirst())
// The server is asked by a process of its own, which is this program.
HelperProcess.isThisProgram = true
if words.first == ServerProbe.word { exit(ServerProbe.run(server: words.dropFirst().first)) }
JackConnection.silenceLibrary()
FasterKernels.register()
flushDenormalsToZero()
do {
  if words.isEmpty || ["--help", "-h", "help"].contains(words[0]) {
    print(Command.overview)
    exit(words.isEmpty ? 2 : 0)
  }
  guard let command = Command(rawValue: words[0]) else {
    let known = Command.allCases.map(\.rawValue).joined(separator: ", ")
    throw Failure(.usage, "unknown benchmark \"\(words[0])\"; use one of: \(known)")
  }
  exit(try command.run(try Options(Array(words.dropFirst()), of: command)) ? 0 : 1)
} catch {
  let failure = Failure(error)
  FileHandle.standardError.write(Data("pinna-benchmarks: \(failure.description)\n".utf8))
  exit(failure.status.rawValue)
}
