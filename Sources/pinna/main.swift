import FasterKernels
import Foundation
import JackClient

// A write past the limit of file size is then an error that is told, not the end of the program and of its take.
signal(SIGXFSZ, SIG_IGN)
FasterKernels.register()
JackConnection.silenceLibrary()
exit(Tool.run(Array(CommandLine.arguments.dropFirst())).rawValue)
