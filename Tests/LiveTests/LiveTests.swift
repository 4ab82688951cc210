import LiveSupport
import Testing

/// Everything that needs a JACK server, one test at a time.
@Suite(
  "Live", .serialized, .withoutLockedMetadata,
  .enabled(if: LiveGraph.isPossible, "jackd2 is not installed: no JACK server"))
enum LiveTests {}
