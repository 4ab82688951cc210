import FoundationEssentials
import Messages
import Settings

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
    let settings = SettingKey.allCases.map(\.rawValue)
    func arePairs(_ words: ArraySlice<String>, of known: [String]) -> Bool {
      words.count % 2 == 0
        && stride(from: words.startIndex, to: words.endIndex, by: 2).allSatisfy { known.contains(words[$0]) }
    }
    let isOffered =
      switch request.method {
      case "/pinna/set": !arguments.isEmpty && arePairs(arguments[...], of: settings)
      case OSCMethod.feedSet: arguments.count > 1 && arePairs(arguments.dropFirst(), of: settings)
      case "/pinna/feed/add":
        !arguments.isEmpty && arePairs(arguments.dropFirst(), of: settings + ["format", "order"])
      // Neither a folder nor the key dir: takes go to the takes folder.
      case "/pinna/record/start": arePairs(arguments[...], of: ["raw", "format", "feeds"])
      case "/pinna/record/stop", "/pinna/preset/cancel": arguments.isEmpty
      case "/pinna/preset/use", "/pinna/record/marker", "/pinna/record/title", "/pinna/feed/remove":
        arguments.count == 1
      default: false
      }
    guard isOffered else {
      throw Failure(
        .usage, "the page does not offer \(request.method) with \(arguments.count) arguments such as these")
    }
    message = OSCMessage(request.method, arguments.map { .string($0) })
  }
}
