// swift-tools-version: 6.1
import PackageDescription

/// A C library of Debian's, found through pkg-config.
func library(_ name: String, pkgConfig: String?, debian: String) -> Target {
  .systemLibrary(
    name: name, path: "Sources/CLibraries/\(name)", pkgConfig: pkgConfig, providers: [.apt([debian])])
}

/// With PINNA_ONLY_CORE set, the package is the engine, the control room, and their tests: what the sanitizers build.
let onlyCore = Context.environment["PINNA_ONLY_CORE"] != nil
let coreTargets: Set = [
  "CFiles", "CRealtime", "CSndfile", "CSockets", "CJack", "CLiblo", "CMysofa", "CYaml", "CLapack",
  "Acoustics", "Threads",
  "AudioFiles",
  "Kernels", "Realtime", "FasterKernels", "FilterDesign", "Session", "Recording", "JackClient", "Control",
  "TestSupport", "RealtimeTests", "ControlTests",
]

/// The kernels compiled for a level of x86-64 and a vector length; the folder links to the one source. Instructions are
/// ordered as Zen 4 likes them where the level is its own: 1 to 2 %.
func fasterKernels(_ name: String, level: String, lanes: Int) -> Target {
  .target(
    name: name, dependencies: ["CRealtime"],
    swiftSettings: [
      .define("LANES_\(lanes)"), .define("FMA"),
      .unsafeFlags(
        ["-Xcc", "-march=x86-64-\(level)"] + (level == "v4" ? ["-Xcc", "-mtune=znver4"] : [])),
    ])
}

#if arch(x86_64)
  let faster = [
    fasterKernels("KernelsV3", level: "v3", lanes: 8), fasterKernels("KernelsV4", level: "v4", lanes: 16),
    fasterKernels("KernelsV4Eight", level: "v4", lanes: 8),
  ]
#else
  let faster: [Target] = []
#endif

let package = Package(
  name: "pinna",
  products: [
    .executable(name: "pinna", targets: ["pinna"]),
    .library(name: "PinnaSession", targets: ["PinnaSession"]),
    // Carries compiler flags: SwiftPM takes it for dependencies by branch, revision or path, not by version.
    .library(name: "PinnaFasterKernels", targets: ["FasterKernels"]),
  ],
  targets: [
    library("CJack", pkgConfig: "jack", debian: "libjack-jackd2-dev"),
    library("CSndfile", pkgConfig: "sndfile", debian: "libsndfile1-dev"),
    library("CLiblo", pkgConfig: "liblo", debian: "liblo-dev"),
    library("CMysofa", pkgConfig: "libmysofa", debian: "libmysofa-dev"),
    library("CYaml", pkgConfig: "yaml-0.1", debian: "libyaml-dev"),
    library("CLapack", pkgConfig: "lapacke", debian: "liblapacke-dev"),
    library("CCairo", pkgConfig: "cairo", debian: "libcairo2-dev"),
    .systemLibrary(name: "CFiles", path: "Sources/CLibraries/CFiles"),
    .systemLibrary(name: "CSockets", path: "Sources/CLibraries/CSockets"),
    .systemLibrary(name: "CRealtime", path: "Sources/CLibraries/CRealtime"),

    // Imports point one way: each line may use the lines above it.
    .target(name: "Acoustics"),
    .target(name: "Threads", dependencies: ["CFiles"]),
    .target(name: "AudioFiles", dependencies: ["CFiles", "CSndfile"]),
    .target(name: "Plots", dependencies: ["CCairo"]),
    .target(name: "Kernels", dependencies: ["CRealtime"]),
    .target(name: "Realtime", dependencies: ["CRealtime", "Kernels", "Threads"]),
    // Apart from the libraries: these carry compiler flags.
    .target(
      name: "FasterKernels", dependencies: ["Realtime"] + faster.map { .target(name: $0.name) }),
    .target(name: "FilterDesign", dependencies: ["Acoustics", "AudioFiles", "CMysofa", "CLapack"]),
    .target(name: "Session", dependencies: ["Acoustics", "FilterDesign", "CYaml"]),
    .target(
      name: "Simulation", dependencies: ["Acoustics", "AudioFiles", "FilterDesign", "Realtime", "Session"]),
    .target(name: "Recording", dependencies: ["AudioFiles", "Realtime", "Threads"]),
    .target(name: "JackClient", dependencies: ["CJack", "CRealtime", "Realtime", "Threads"]),
    .target(
      name: "Control",
      dependencies: [
        "CLiblo", "CSockets", "Acoustics", "AudioFiles", "FilterDesign", "Session", "Realtime", "JackClient",
        "Recording", "Threads",
      ]),
    .target(name: "PinnaSession", dependencies: ["Acoustics", "Session", "Recording", "Control", "Threads"]),
    .executableTarget(
      name: "pinna",
      dependencies: [
        "Control", "Simulation", "JackClient", "Recording", "Session", "FilterDesign", "Realtime",
        "FasterKernels", "AudioFiles", "Plots", "Acoustics", "Threads", "CFiles",
      ]),

    .target(
      name: "TestSupport", dependencies: ["Acoustics", "AudioFiles", "Realtime"], path: "Tests/Support",
      exclude: ["Live", "Figures", "Fuzz"]),
    // Apart, so that sanitizer runs of the realtime tests build no JACK.
    .target(
      name: "LiveSupport",
      dependencies: ["CJack", "CSockets", "Control", "JackClient", "Recording", "AudioFiles", "TestSupport"],
      path: "Tests/Support/Live"),
    // The table of figures, for the tests on a coarse mesh and for `make figures`, which takes a minute.
    .target(
      name: "FigureSupport", dependencies: ["FilterDesign", "Acoustics"], path: "Tests/Support/Figures"),
    .executableTarget(
      name: "figures", dependencies: ["FilterDesign", "FigureSupport", "Session", "Acoustics"],
      path: "Tests/Figures"),
    // The parsers of what others write, for the tests and for libFuzzer.
    .target(
      name: "FuzzSupport",
      dependencies: [
        "Control", "Simulation", "Session", "Recording", "FilterDesign", "AudioFiles", "Acoustics",
        "TestSupport",
      ],
      path: "Tests/Support/Fuzz"),
    // The seeds' listings, as a program of its own.
    .executableTarget(name: "SeedListings", dependencies: ["PinnaSession"], path: "Tests/SeedListings"),
    // One end of a control socket as a program of its own: a server, a client, another user who meddles.
    .executableTarget(name: "peer", dependencies: ["PinnaSession", "Control"], path: "Tests/Peer"),
    // Its malloc counts: a program of its own, so that no test or sanitizer meets it.
    .target(name: "AllocationCount", path: "Tests/AllocationCount", publicHeadersPath: "include"),
    .executableTarget(
      name: "allocations", dependencies: ["AllocationCount", "Realtime", "FasterKernels", "TestSupport"],
      path: "Tests/Allocations"),
    .testTarget(name: "RealtimeTests", dependencies: ["Realtime", "FasterKernels", "TestSupport"]),
    .testTarget(
      name: "FilterDesignTests",
      // The tool is what reads SOFA files.
      dependencies: [
        "pinna", "FilterDesign", "FigureSupport", "Session", "Acoustics", "AudioFiles", "TestSupport",
      ]),
    .testTarget(
      name: "RecordingTests",
      dependencies: ["Recording", "AudioFiles", "Realtime", "TestSupport", "LiveSupport"]),
    .testTarget(
      name: "SessionTests", dependencies: ["Session", "FilterDesign", "Acoustics", "TestSupport"]),
    .testTarget(
      name: "SimulationTests",
      dependencies: ["Simulation", "Session", "Acoustics", "AudioFiles", "FilterDesign", "TestSupport"]),
    // No JACK server: state machines, registers and clocks against fakes, in milliseconds; control sockets in temporary
    // folders.
    .testTarget(
      name: "ControlTests",
      dependencies: [
        "Control", "JackClient", "Recording", "Realtime", "FilterDesign", "Session", "Acoustics", "Threads",
        "TestSupport",
      ]),
    // Real sockets, other processes, another user.
    .testTarget(
      name: "SocketTests",
      dependencies: ["CSockets", "peer", "PinnaSession", "LiveSupport", "Control", "TestSupport"]),
    .testTarget(name: "PlotsTests", dependencies: ["Plots", "CCairo", "TestSupport"]),
    .testTarget(
      name: "VerbTests",
      dependencies: [
        "pinna", "allocations", "LiveSupport", "TestSupport", "FilterDesign", "Session", "AudioFiles",
        "Acoustics",
      ]),
    .testTarget(
      name: "LiveTests",
      dependencies: [
        "pinna", "PinnaSession", "SeedListings", "LiveSupport", "TestSupport", "Simulation", "Session",
        "Control", "JackClient", "CJack", "Recording", "Realtime", "FasterKernels", "AudioFiles", "Acoustics",
      ]),
    .testTarget(
      name: "FuzzTests",
      // The tool is what reads SOFA files.
      dependencies: ["pinna", "FuzzSupport", "FilterDesign", "Acoustics", "TestSupport"]),
    .testTarget(
      name: "DocsTests", dependencies: ["pinna", "LiveSupport", "TestSupport", "Session", "Acoustics"]),
  ]
)

package.targets += faster

// With PINNA_FUZZERS set, the program that libFuzzer brings its own main for: `make fuzz`.
if Context.environment["PINNA_FUZZERS"] != nil {
  package.targets.append(
    .executableTarget(
      name: "Fuzzers", dependencies: ["FuzzSupport"], path: "Tests/Fuzzers",
      swiftSettings: [.unsafeFlags(["-parse-as-library"])]))
}

if onlyCore {
  package.products = []
  package.targets = package.targets.filter {
    coreTargets.contains($0.name) || $0.name.hasPrefix("KernelsV")
  }
}
