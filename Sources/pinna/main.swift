import FasterKernels
import Foundation

// A write past the limit of file size is then an error that is told, not the end of the program and of its take.
signal(SIGXFSZ, SIG_IGN)
FasterKernels.register()
exit(Tool.run(Array(CommandLine.arguments.dropFirst())).rawValue)
