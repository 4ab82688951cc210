import AudioFiles
import FasterKernels
import FilterBanks
import Glibc
import JackClient
import Numerics
import Threads

// First of all, because these signals may arrive as soon as `run` starts.
if [nil, Verb.run.name].contains(CommandLine.arguments.dropFirst().first) { Signals.ignoreEarly() }
// A write beyond the file size limit then fails with an error. By default it would end the process and its take.
signal(SIGXFSZ, SIG_IGN)
Output.prepare()
ReadFiles.remember()
HelperProcess.isThisProgram = true
JackConnection.silenceLibrary()
FreeMemory.useTwoArenas()
useSingleThreadedBLAS()
FasterKernels.register()
DesignLock.onWaiting { Tool.complain($0) }
var status = DescriptorLimit.isMet ? Tool.run(Array(CommandLine.arguments.dropFirst())) : .failed
if let fault = Output.fault {
  Tool.complain("standard output is incomplete: \(fault); make room for it, or send it elsewhere")
  if status == .done { status = .failed }
}
Output.finish(within: .milliseconds(200))
Tool.end(status.rawValue)
