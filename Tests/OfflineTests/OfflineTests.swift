import LiveSupport
import Testing

/// A running Pinna in a graph without a server: everything is real but libjack (`OfflineGraph`). What only a server can
/// show is in `LiveTests`. One test at a time, because they wait: `tools/tests` runs them in several processes.
@Suite("Offline", .serialized, .enabled(if: OfflineGraph.isPossible, "there is no C compiler"))
enum OfflineTests {}
