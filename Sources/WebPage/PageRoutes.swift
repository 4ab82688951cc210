import Acoustics
import Messages
import Settings

/// The polar patterns of the case that a feed plays, as JSON. They need the designs' rooms, which the page does not link:
/// the tool brings them. Called by threads that may wait.
package typealias CurvesOfDevice = @Sendable (RunningDevice) throws -> String

/// A picture of who spoke in the take of a file, as SVG. Called by threads that may wait.
package typealias TalkersOfTake = @Sendable (String) throws -> [UInt8]

/// What each path of the page answers.
///
/// Thread: any; immutable.
struct PageRoutes: Sendable {
  /// How a request is answered.
  enum Route {
    case now(PageResponse)
    /// By work that waits for Pinna or the disk.
    case later(@Sendable () -> PageResponse)
    case events
  }

  let client: ControlClient
  let takes: TakeLibrary
  let deviceFile: String?
  let curves: CurvesOfDevice
  let talkers: TalkersOfTake

  /// - Parameter body: empty for GET, which changes nothing.
  func route(_ head: RequestHead, body: [UInt8]) -> Route {
    if head.method == "POST" {
      if head.path == "/takes" { return .later { [takes] in takes.edit(body) } }
      guard head.path == "/control" else { return .now(.refusal(404, "there is no such page")) }
      do throws(Failure) { return control(try PageRequest(body: body)) } catch {
        return .now(PageResponse(error))
      }
    }
    switch head.path {
    case "/events": return .events
    case let path where path.isPage("device"):
      return device(of: path) { running in try running.document() }
    case let path where path.isPage("curves"):
      return device(of: path) { [curves] running in .document(try curves(running)) }
    case "/settings": return .now(.document(Self.settings))
    case "/inputs": return ask("/pinna/inputs")
    case "/presets": return ask("/pinna/presets")
    case "/takes": return .later { [takes] in takes.list }
    case let path where path.hasPrefix("/takes/"):
      let (name, range) = (String(path.dropFirst("/takes/".count)), head.header("range"))
      return .later { [takes] in takes.file(name, range: range) }
    case let path where path.hasPrefix("/talkers/"):
      let name = String(path.dropFirst("/talkers/".count))
      return .later { [takes, talkers] in takes.picture(of: name, talkers) }
    default: return .now(PageFiles.response(head.path) ?? .refusal(404, "there is no such page"))
    }
  }

  /// The settings that are numbers or parts to choose from, or are typed, as JSON: the page has a field for each.
  private static let settings: String = {
    struct Field: Encodable {
      let key, json, title, unit: String
      /// Words of values; the first is that of a status without the value. Empty if it is typed.
      let options: [String]
      /// Whether talkers by their names or numbers are values, too.
      let offersTalkers: Bool
      /// What may be typed.
      let placeholder: String
    }
    return json(
      SettingKey.ofFeeds.compactMap { key -> Field? in
        guard let feed = key.row.feed, let line = feed.line, !key.row.options.isEmpty || line.isTyped
        else { return nil }
        var unit = ""
        if case .number(_, let word, _) = key.row.kind { unit = word }
        return Field(
          key: key.rawValue, json: feed.json, title: line.title, unit: unit, options: key.row.options,
          offersTalkers: key == .part, placeholder: key.row.placeholder)
      })
  }()

  /// In seconds, between two reports of progress. Longer than Pinna lets a request wait for a design.
  private static let patience = 60.0

  private func control(_ request: PageRequest) -> Route {
    .later { [client] in
      do throws(Failure) {
        return PageResponse(try client.request(request.message, seconds: Self.patience))
      } catch { return PageResponse(error) }
    }
  }

  private func ask(_ method: String) -> Route {
    .later { [client] in
      do throws(Failure) {
        return PageResponse(try client.request(OSCMessage(method), seconds: 5))
      } catch { return PageResponse(error) }
    }
  }

  /// - Parameter path: of the page, and then of a feed, if it is not about `main`: "/curves/anna".
  private func device(
    of path: String, _ response: @escaping @Sendable (RunningDevice) throws -> PageResponse
  ) -> Route {
    let parts = path.split(separator: "/")
    let feed = parts.count > 1 ? String(parts[1]) : FeedSetting.main
    return .later { [client, deviceFile] in
      do { return try response(RunningDevice(client, deviceFile: deviceFile, feed: feed)) } catch {
        return PageResponse(Failure(error))
      }
    }
  }
}

extension String {
  /// Whether it is the path of the page called `name`, which may be about a feed.
  fileprivate func isPage(_ name: String) -> Bool { self == "/\(name)" || hasPrefix("/\(name)/") }
}
