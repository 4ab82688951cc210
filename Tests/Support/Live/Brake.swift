import CJack
import Foundation

/// A JACK client that slows freewheel down to real time. No deadline is ever missed and no frame lost,
/// however busy the machine is.
public final class Brake {
  private let client: OpaquePointer

  public init(server: String) throws {
    var status = JackStatus(rawValue: 0)
    guard let client = pinna_jack_client_open("brake", JackNoStartServer, &status, server) else {
      throw SupportError("the brake is not let in: status \(status.rawValue)")
    }
    self.client = client
    let process: JackProcessCallback = { frames, context in
      usleep(UInt32(1_000_000 * Double(frames) / Double(jack_get_sample_rate(OpaquePointer(context!)))))
      return 0
    }
    jack_set_process_callback(client, process, UnsafeMutableRawPointer(client))
    jack_activate(client)
  }

  deinit { jack_client_close(client) }
}
