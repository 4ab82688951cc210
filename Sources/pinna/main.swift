import FasterKernels
import Foundation
import JackClient

FasterKernels.register()
JackConnection.silenceLibrary()
exit(Tool.run(Array(CommandLine.arguments.dropFirst())).rawValue)
