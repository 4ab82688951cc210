import FasterKernels
import FilterDesign
import Foundation

useSingleThreadedBLAS()
FasterKernels.register()
exit(Tool.run(Array(CommandLine.arguments.dropFirst())).rawValue)
