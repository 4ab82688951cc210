import Foundation

setvbuf(stdout, nil, _IOLBF, 0)
exit(Tool.run(Array(CommandLine.arguments.dropFirst())).rawValue)
