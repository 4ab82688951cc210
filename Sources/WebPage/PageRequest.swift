import FoundationEssentials
import Messages

/// What the page may ask of Pinna, as the body of a POST: `{"method": "/pinna/set", "arguments": ["gain", "-6"]}`.
///
/// A value; any thread.
package struct PageRequest: Sendable {
  /// In bytes.
  package static let longestBody = 4096
  /// In bytes, of an argument.
  private static let longestArgument = 1000

  package let message: OSCMessage

  private struct Body: Decodable {
    let method: String
    let arguments: [String]?
  }

  /// - Throws: `Failure`, if the body is malformed or asks for something that the page does not offer. Nothing that names a
  ///   path is offered.
  package init(body: [UInt8]) throws(Failure) {
    guard let request = try? JSONDecoder().decode(Body.self, from: Data(body)) else {
      throw Failure(.usage, "the request is not a JSON object with a method and a list of strings, arguments")
    }
    let arguments = request.arguments ?? []
    guard arguments.allSatisfy({ $0.utf8.count <= Self.longestArgument && !$0.utf8.contains(0) }) else {
      throw Failure(
        .usage, "an argument is longer than \(Self.longestArgument) bytes, or contains a zero byte")
    }
    let keys = stride(from: 0, to: arguments.count, by: 2).map { arguments[$0] }
    func arePairs(of known: [String]) -> Bool {
      arguments.count % 2 == 0 && keys.allSatisfy(known.contains)
    }
    let isOffered =
      switch request.method {
      case "/pinna/set": !arguments.isEmpty && arePairs(of: Change.Key.allCases.map(\.rawValue))
      // Neither a folder nor the key dir: takes go to the takes folder.
      case "/pinna/record/start": arePairs(of: ["raw", "format"])
      case "/pinna/record/stop", "/pinna/preset/cancel": arguments.isEmpty
      case "/pinna/preset/use", "/pinna/record/marker", "/pinna/record/title": arguments.count == 1
      default: false
      }
    guard isOffered else {
      throw Failure(
        .usage, "the page does not offer \(request.method) with \(arguments.count) arguments such as these")
    }
    message = OSCMessage(request.method, arguments.map { .string($0) })
  }
}
