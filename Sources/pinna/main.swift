import FasterKernels
import Foundation

FasterKernels.register()
exit(Tool.run(Array(CommandLine.arguments.dropFirst())).rawValue)
