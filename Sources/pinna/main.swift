import FasterKernels
import FilterDesign
import Foundation
import JackClient

// A write past the limit of file size is then an error that is told, not the end of the program and of its take.
signal(SIGXFSZ, SIG_IGN)
Output.prepare()
JackConnection.silenceLibrary()
useSingleThreadedBLAS()
FasterKernels.register()
let status = Tool.run(Array(CommandLine.arguments.dropFirst()))
Output.finish(within: .milliseconds(200))
exit(status.rawValue)
