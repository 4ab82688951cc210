import FasterKernels
import FilterDesign
import Foundation

Output.prepare()
useSingleThreadedBLAS()
FasterKernels.register()
let status = Tool.run(Array(CommandLine.arguments.dropFirst()))
Output.finish(within: .milliseconds(200))
exit(status.rawValue)
