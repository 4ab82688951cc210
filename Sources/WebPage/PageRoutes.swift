import Messages

/// The polar patterns of the case that a device plays, as JSON. They need the designs' rooms, which the page does not link:
/// the tool brings them. Called by threads that may wait.
package typealias CurvesOfDevice = @Sendable (RunningDevice) throws -> String

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

  /// - Parameter body: empty for GET, which changes nothing.
  func route(_ head: RequestHead, body: [UInt8]) -> Route {
    if head.method == "POST" {
      guard head.path == "/control" else { return .now(.refusal(404, "there is no such page")) }
      do throws(Failure) { return control(try PageRequest(body: body)) } catch {
        return .now(PageResponse(error))
      }
    }
    switch head.path {
    case "/events": return .events
    case "/device":
      return device { running in try running.document() }
    case "/curves":
      return device { [curves] running in .document(try curves(running)) }
    case "/inputs": return ask("/pinna/inputs")
    case "/presets": return ask("/pinna/presets")
    case "/takes": return .later { [takes] in takes.list }
    case let path where path.hasPrefix("/takes/"):
      let (name, range) = (String(path.dropFirst("/takes/".count)), head.header("range"))
      return .later { [takes] in takes.file(name, range: range) }
    default: return .now(PageFiles.response(head.path) ?? .refusal(404, "there is no such page"))
    }
  }

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

  private func device(_ response: @escaping @Sendable (RunningDevice) throws -> PageResponse) -> Route {
    .later { [client, deviceFile] in
      do { return try response(RunningDevice(client, deviceFile: deviceFile)) } catch {
        return PageResponse(Failure(error))
      }
    }
  }
}
