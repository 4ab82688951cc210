import CGlibc
import Realtime

/// The engine's checks on another processor, or with the arguments `cost MICROPHONES TAPS PERIOD` its periods.
@_cdecl("main")
func main(_ count: Int32, _ words: UnsafePointer<UnsafePointer<CChar>?>) -> Int32 {
  let arguments = (1..<max(1, Int(count))).map { String(cString: words[$0]!) }
  if arguments.first == "cost" {
    PeriodCost().run(arguments.dropFirst().compactMap { Int($0) })
    return 0
  }
  var checks = Checks()
  ModeChecks().run(&checks)
  var convolution = ConvolutionChecks()
  convolution.run(&checks)
  StreamChecks().run(&checks)
  print(
    "\(checks.count) expectations, \(checks.failures) failed; \(convolution.layouts) layouts within "
      + "\(billionths(convolution.largestError)) of the peak (limit 1000e-9)")
  return checks.failures == 0 ? 0 : 1
}
