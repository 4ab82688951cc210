import Foundation
import FuzzSupport

/// The parser that the environment names. libFuzzer uses one thread.
nonisolated(unsafe) private let harness: ParserHarness = {
  let name = ProcessInfo.processInfo.environment["PINNA_PARSER"] ?? ""
  guard let parser = FuzzedParser(rawValue: name) else {
    fatalError("PINNA_PARSER is none of \(FuzzedParser.allCases.map(\.rawValue))")
  }
  return try! ParserHarness(parser)
}()

/// libFuzzer's entry point. A refusal counts as a result; a finding ends the program, and libFuzzer keeps its
/// input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  do {
    try harness.feed(Array(UnsafeBufferPointer(start: bytes, count: count)))
  } catch {
    if let finding = FuzzFinding(refusal: error) { fatalError(finding.description) }
  }
  return 0
}
