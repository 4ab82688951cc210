import FasterKernels
import Foundation
import JackClient
import Numerics

// The first thing: whoever starts `run` may send them at once.
if CommandLine.arguments.dropFirst().first == Verb.run.name { Signals.ignoreEarly() }
// A write past the limit of file size is then an error that is told, not the end of the program and of its take.
signal(SIGXFSZ, SIG_IGN)
Output.prepare()
JackConnection.silenceLibrary()
useSingleThreadedBLAS()
FasterKernels.register()
let status = DescriptorLimit.isMet ? Tool.run(Array(CommandLine.arguments.dropFirst())) : .failed
Output.finish(within: .milliseconds(200))
Tool.end(status.rawValue)
