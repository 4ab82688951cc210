// swift-tools-version: 6.1
import PackageDescription

/// A C library of Debian's, found through pkg-config.
func library(_ name: String, pkgConfig: String?, debian: String) -> Target {
  .systemLibrary(
    name: name, path: "Sources/CLibraries/\(name)", pkgConfig: pkgConfig, providers: [.apt([debian])])
}

/// With PINNA_ONLY_CORE set, the package is what these tests need: the engine and the control room, which sanitizers build.
let coreTests = ["RealtimeTests", "PluginTests", "ControlTests"]
let onlyCore = Context.environment["PINNA_ONLY_CORE"] != nil

/// The kernels compiled for a level of x86-64 and a vector length; the folder links to the one source. Instructions are
/// ordered as Zen 4 likes them where the level is its own: 1 to 2 %. There, REGISTERS_32 tells the kernels that AVX-512 has 32
/// vector registers, for any vector length.
func fasterKernels(_ name: String, level: String, lanes: Int) -> Target {
  .target(
    name: name, dependencies: ["CRealtime"],
    swiftSettings: [
      .define("LANES_\(lanes)"),
      .unsafeFlags(
        ["-Xcc", "-march=x86-64-\(level)", "-Xcc", "-DPINNA_LANES=\(lanes)"]
          + (level == "v4" ? ["-Xcc", "-mtune=znver4"] : [])),
    ] + (level == "v4" ? [.define("REGISTERS_32")] : []))
}

/// For tests that wait, or call what does the work: not optimised, they build in half the time.
let waiting: [SwiftSetting] = [.unsafeFlags(["-Onone"])]

/// Rooms that compute no samples. With PINNA_QUICK_BUILD set they are not optimised: `make run` and the gate then build in half the
/// time. What is installed, packaged, or depended on by others is optimised as a whole.
let roomsWithoutSound: Set<String> = [
  "Plots", "Presets", "Recording", "Settings", "Detection", "Diagnosis", "PluginBundles", "GuidedCheck",
  "Messages",
  "Processor", "JackWorld", "Control", "WebPage", "Monitor", "LiveCheck", "PinnaRemote", "PinnaSession",
  "pinna",
]
let isQuick = Context.environment["PINNA_QUICK_BUILD"] != nil

/// Programs that no test runs; with PINNA_PROGRAMS set they are built.
let programs = ["figure-table", "adaptive-scenes"]

/// Tests that design filters from nothing. The gate builds them where something that they test has changed (tools/due); with
/// PINNA_WITHOUT_DESIGNS set they are left out.
let designTests = [
  "FilterDesignTests", "ArrayCheckTests", "SimulationTests", "AdaptationTests", "RenderingTests",
]

#if arch(x86_64)
  let faster = [
    fasterKernels("KernelsV3", level: "v3", lanes: 8), fasterKernels("KernelsV4", level: "v4", lanes: 16),
    fasterKernels("KernelsV4Eight", level: "v4", lanes: 8),
  ]
  let registers: [SwiftSetting] = []
#else
  let faster: [Target] = []
  // arm64 has 32 vector registers, too (tools/arm64 compiles the same).
  let registers: [SwiftSetting] = [.define("REGISTERS_32")]
#endif

let package = Package(
  name: "pinna",
  products: [
    .executable(name: "pinna", targets: ["pinna"]),
    .library(name: "PinnaSession", targets: ["PinnaSession"]),
    .library(name: "PinnaRemote", targets: ["PinnaRemote"]),
    // Carries compiler flags: SwiftPM takes it for dependencies by branch, revision or path, not by version.
    .library(name: "PinnaFasterKernels", targets: ["FasterKernels"]),
    // The plug-in for LV2 hosts, which `pinna export` copies into bundles.
    .library(name: "pinna-lv2", type: .dynamic, targets: ["LV2Plugin"]),
  ],
  targets: [
    library("CLV2", pkgConfig: "lv2", debian: "lv2-dev"),
    library("CJack", pkgConfig: "jack", debian: "libjack-jackd2-dev"),
    library("CSndfile", pkgConfig: "sndfile", debian: "libsndfile1-dev"),
    library("CLiblo", pkgConfig: "liblo", debian: "liblo-dev"),
    library("CMysofa", pkgConfig: "libmysofa", debian: "libmysofa-dev"),
    library("CYaml", pkgConfig: "yaml-0.1", debian: "libyaml-dev"),
    library("CLapack", pkgConfig: "lapacke", debian: "liblapacke-dev"),
    library("CCairo", pkgConfig: "cairo", debian: "libcairo2-dev"),
    library("CMicrohttpd", pkgConfig: "libmicrohttpd", debian: "libmicrohttpd-dev"),
    // Its pkg-config file has flags that SwiftPM warns of.
    library("CNcurses", pkgConfig: nil, debian: "libncurses-dev"),
    .systemLibrary(name: "CFiles", path: "Sources/CLibraries/CFiles"),
    .systemLibrary(name: "CSockets", path: "Sources/CLibraries/CSockets"),
    .systemLibrary(name: "CRealtime", path: "Sources/CLibraries/CRealtime"),

    // Imports point one way: each line may use the lines above it.
    .target(name: "Text"),
    .target(name: "Acoustics", dependencies: ["Text"]),
    // What can be set, a row each; feeds, and changes of them.
    .target(name: "Settings", dependencies: ["Text", "Acoustics"]),
    .target(name: "Threads", dependencies: ["CFiles"]),
    .target(name: "AudioFiles", dependencies: ["CFiles", "CSndfile", "Threads"]),
    .target(name: "Plots", dependencies: ["Text", "Acoustics", "AudioFiles", "CCairo"]),
    .target(name: "Kernels", dependencies: ["CRealtime"], swiftSettings: registers),
    .target(name: "Realtime", dependencies: ["Text", "CRealtime", "Kernels", "Threads"]),
    // Apart from the libraries: these carry compiler flags.
    .target(
      name: "FasterKernels", dependencies: ["Realtime"] + faster.map { .target(name: $0.name) }),
    // What a plug-in plays, whatever the host's format, and its adapter for LV2. Without Foundation and every library.
    .target(name: "Plugin", dependencies: ["Acoustics", "Realtime", "Threads"]),
    .target(name: "LV2Plugin", dependencies: ["CLV2", "FasterKernels", "Plugin", "Threads"]),
    .target(name: "Numerics", dependencies: ["CLapack"]),
    .target(
      name: "Measurements",
      dependencies: ["Text", "Acoustics", "AudioFiles", "Numerics", "Threads", "CMysofa", "CLapack"]),
    .target(
      name: "Manifolds",
      dependencies: ["Text", "Acoustics", "AudioFiles", "Measurements", "Numerics", "CLapack"]),
    .target(
      name: "HeadResponses", dependencies: ["Acoustics", "AudioFiles", "Measurements", "Numerics"]),
    .target(
      name: "FilterDesign",
      dependencies: ["Acoustics", "Manifolds", "HeadResponses", "Numerics", "CLapack"]),
    // Stereo filters that follow the sound: who is where, and what the linear filters lack there.
    .target(
      name: "Adaptation",
      dependencies: [
        "Acoustics", "FilterDesign", "Manifolds", "HeadResponses", "Numerics", "Realtime", "Settings",
        "Threads",
      ]),
    .target(
      name: "Figures",
      dependencies: ["Acoustics", "FilterDesign", "Manifolds", "HeadResponses", "Numerics", "CLapack"]),
    .target(
      name: "Presets", dependencies: ["Text", "Acoustics", "AudioFiles", "Settings", "CYaml"]),
    // Which of the devices is plugged in.
    .target(name: "Detection", dependencies: ["Text", "Acoustics", "Threads"]),
    // What stands in the way of reliable sound: realtime rights, servers, disks, profiles of sound cards.
    .target(name: "Diagnosis", dependencies: ["Text", "Detection", "Threads"]),
    .target(
      name: "FilterBanks",
      dependencies: [
        "Text", "Acoustics", "AudioFiles", "Figures", "FilterDesign", "HeadResponses", "Manifolds",
        "Measurements",
        "Numerics", "Presets", "Settings", "Threads",
      ]),
    // Bundles for hosts of plug-ins.
    .target(
      name: "PluginBundles",
      dependencies: ["Text", "Acoustics", "FilterDesign", "Plugin", "Presets", "Settings"]),
    .target(
      name: "Recording", dependencies: ["Text", "Acoustics", "AudioFiles", "Realtime", "Settings", "Threads"]),
    // What the engine plays, without a server: `render` and the guided check need no JACK.
    .target(
      name: "Rendering",
      dependencies: [
        "Text", "Acoustics", "Adaptation", "AudioFiles", "FilterBanks", "FilterDesign", "Numerics", "Presets",
        "Realtime", "Recording", "Settings", "Threads",
      ]),
    .target(
      name: "Simulation",
      dependencies: ["Text", "Acoustics", "AudioFiles", "Manifolds", "Numerics", "Realtime", "Presets"]),
    // Whether an array is wired and healthy, and how its microphones deviate, from a recording of ordinary sound.
    .target(
      name: "ArrayCheck", dependencies: ["Acoustics", "AudioFiles", "Manifolds", "Numerics", "Realtime"]),
    // The guided check without a server: its sound, what is expected, the verdict.
    .target(
      name: "GuidedCheck",
      dependencies: ["Text", "Acoustics", "Adaptation", "AudioFiles", "Rendering", "Simulation"]),
    .target(name: "JackClient", dependencies: ["CJack", "CRealtime", "Realtime", "Threads"]),
    // What Pinna and its remote controls tell each other: OSC, methods, changes, answers, the client's end of the control
    // socket. No JACK, no LAPACK.
    .target(
      name: "Messages", dependencies: ["Text", "CLiblo", "CSockets", "Acoustics", "Settings", "Threads"]),
    // The state machine of a running Pinna, its watchers and jobs, and the protocols of the world around it.
    .target(
      name: "Processor",
      dependencies: [
        "Text", "Acoustics", "AudioFiles", "FilterBanks", "FilterDesign", "JackClient", "Messages", "Presets",
        "Realtime", "Recording", "Rendering", "Settings", "Threads",
      ]),
    // That world for real: JACK, disks, designs.
    .target(
      name: "JackWorld",
      dependencies: [
        "Acoustics", "Adaptation", "CRealtime", "FilterDesign", "JackClient", "Messages", "Numerics",
        "Presets", "Processor", "Realtime",
        "Recording", "Rendering", "Settings", "Threads",
      ]),
    // Everything that steers the processor: the server's end of the control socket, UDP, sessions, MIDI, session managers.
    .target(
      name: "Control",
      dependencies: [
        "Text", "CSockets", "Acoustics", "JackClient", "Messages", "Presets", "Processor", "Recording",
        "Settings",
        "Threads",
      ]),
    // The page's files, as bytes of the program (C's #embed: as Swift they take ten seconds to compile), and
    .target(name: "PageResources"),
    // the web page of a running Pinna, served by a process of its own.
    .target(
      name: "WebPage",
      dependencies: [
        "PageResources", "CMicrohttpd", "CSockets", "Plots", "Acoustics", "AudioFiles", "Messages", "Presets",
        "Recording", "Settings", "Threads",
      ],
      exclude: ["Resources"]),
    // The terminal view of a running Pinna.
    .target(
      name: "Monitor",
      dependencies: [
        "Text", "CFiles", "CNcurses", "Acoustics", "Messages", "Presets", "Settings", "Threads",
      ]),
    // For the demo, the bench, the check and tests, and in no library: a private server, players and recorders, and
    // requests to a server that may never answer.
    .target(
      name: "JackTools",
      dependencies: ["Text", "CJack", "JackClient", "Messages", "Processor", "Settings", "Threads"]),
    // The same check in a JACK graph, through a running Pinna.
    .target(
      name: "LiveCheck",
      dependencies: [
        "Acoustics", "GuidedCheck", "JackClient", "JackTools", "Messages", "Processor", "Settings",
      ]),
    // A program's session with a Pinna that another process runs. No JACK, no LAPACK.
    .target(
      name: "PinnaRemote", dependencies: ["Acoustics", "Messages", "Recording", "Settings", "Threads"]),
    // The same with an engine in the program itself, and the guided check.
    .target(
      name: "PinnaSession",
      dependencies: [
        "Control", "GuidedCheck", "JackWorld", "Messages", "PinnaRemote", "Presets", "Processor", "Settings",
        "Threads",
      ]),
    .executableTarget(
      name: "pinna",
      dependencies: [
        "Text", "LiveCheck", "WebPage", "Monitor", "GuidedCheck", "ArrayCheck", "Control", "JackWorld",
        "Processor",
        "Messages",
        "JackTools", "JackClient", "PluginBundles",
        "Recording", "Simulation", "Rendering", "Adaptation", "FilterBanks", "Diagnosis", "Detection",
        "Presets", "Settings", "Figures",
        "FilterDesign",
        "HeadResponses", "Manifolds",
        "Measurements", "Numerics", "FasterKernels", "Realtime", "AudioFiles", "Plots", "Acoustics",
        "Threads",
        "CFiles",
      ]),

    // What `make bench` measures.
    .executableTarget(
      name: "pinna-benchmarks",
      dependencies: [
        "Messages", "Settings", "Processor", "JackTools", "JackClient", "FasterKernels", "Plugin", "Realtime",
        "Plots",
        "AudioFiles", "Threads", "CFiles",
      ],
      path: "Benchmarks/pinna-benchmarks"),

    .target(
      name: "TestSupport", dependencies: ["Acoustics", "AudioFiles", "Numerics", "Realtime", "Simulation"],
      path: "Tests/Support",
      exclude: ["Live", "Figures", "Fuzz"]),
    // Apart, so that sanitizer runs of the realtime tests build no JACK.
    .target(
      name: "LiveSupport",
      dependencies: [
        "CJack", "CSockets", "Control", "Processor", "Messages", "Settings", "JackClient", "JackTools",
        "Recording",
        "Realtime", "AudioFiles",
        "Threads", "TestSupport",
      ],
      path: "Tests/Support/Live"),
    // The table of figures, for the tests on a coarse mesh and for `make figures`, which takes a minute.
    .target(
      name: "FigureSupport", dependencies: ["Figures", "Acoustics"], path: "Tests/Support/Figures"),
    .executableTarget(
      name: "figure-table",
      dependencies: [
        "FilterBanks", "Figures", "FigureSupport", "FilterDesign", "Manifolds", "Numerics", "Presets",
        "Acoustics",
      ],
      path: "Tests/Figures"),
    // Adaptive filters over given scenes, for the judge in numpy.
    .executableTarget(
      name: "adaptive-scenes",
      dependencies: [
        "Adaptation", "Acoustics", "AudioFiles", "FilterBanks", "FilterDesign", "HeadResponses", "Manifolds",
        "FasterKernels",
        "Presets", "Realtime",
      ],
      path: "Tests/AdaptiveScenes",
      exclude: ["judge.py", "meetings.py", "parts.py", "renders.py", "talkers.py", "wind.py"]),
    // The parsers of what others write, for the tests and for libFuzzer.
    .target(
      name: "FuzzSupport",
      dependencies: [
        "Control", "JackClient", "Messages", "Processor", "Simulation", "Presets", "Settings", "Recording",
        "FilterBanks",
        "FilterDesign", "Measurements", "Plugin",
        "AudioFiles", "Acoustics", "TestSupport",
      ],
      path: "Tests/Support/Fuzz"),
    // What programs do with the session library: the seeds' calls, and the library page's guided check.
    .executableTarget(
      name: "session-programs", dependencies: ["PinnaSession"], path: "Tests/SessionPrograms"),
    // A client that plays the server's frame time, in a process of its own.
    .executableTarget(
      name: "frame-clock", dependencies: ["CJack", "JackClient", "LiveSupport", "Threads"],
      path: "Tests/FrameClock"),
    // A player and a recorder around another program, with whichever libjack the process finds: JACK2's or PipeWire's.
    .executableTarget(
      name: "signal-loop", dependencies: ["JackClient", "JackTools", "LiveSupport", "AudioFiles"],
      path: "Tests/SignalLoop"),
    // One end of a control socket as a program of its own: a server, a client, another user who meddles.
    .executableTarget(
      name: "peer", dependencies: ["PinnaSession", "Control", "Messages", "Threads"], path: "Tests/Peer"),
    // Its malloc counts: a program of its own, which no target names, so that no test or sanitizer meets it.
    .target(name: "AllocationCount", path: "Tests/AllocationCount", publicHeadersPath: "include"),
    .executableTarget(
      name: "allocations",
      dependencies: [
        "Acoustics", "Adaptation", "AllocationCount", "CFiles", "Presets", "Realtime", "Settings",
        "FasterKernels",
        "TestSupport",
      ],
      path: "Tests/Allocations"),
    .testTarget(name: "TextTests", dependencies: ["Text"], swiftSettings: waiting),
    .testTarget(name: "RealtimeTests", dependencies: ["Realtime", "FasterKernels", "TestSupport"]),
    .testTarget(
      name: "PluginTests", dependencies: ["CLV2", "LV2Plugin", "Plugin", "Realtime", "TestSupport"]),
    .testTarget(
      name: "FilterDesignTests",
      dependencies: [
        "FilterBanks", "Figures", "FilterDesign", "HeadResponses", "Manifolds", "Measurements",
        "Numerics", "CLapack",
        "FigureSupport", "Presets", "Acoustics", "AudioFiles", "TestSupport",
      ]),
    .testTarget(
      name: "AdaptationTests",
      dependencies: [
        "Adaptation", "Rendering", "Realtime", "FilterBanks", "FilterDesign", "HeadResponses",
        "Manifolds", "Numerics", "Presets", "Settings", "Acoustics", "TestSupport",
      ]),
    // No JACK in its dependencies.
    .testTarget(
      name: "RenderingTests",
      dependencies: [
        "Rendering", "Realtime", "FilterBanks", "FilterDesign", "Manifolds", "Numerics", "Presets",
        "Settings",
        "Acoustics",
        "TestSupport",
      ]),
    .testTarget(
      name: "RecordingTests",
      dependencies: [
        "Recording", "Acoustics", "AudioFiles", "Realtime", "Settings", "TestSupport", "LiveSupport",
      ],
      swiftSettings: waiting),
    .testTarget(
      name: "PresetsTests",
      dependencies: [
        "Presets", "Settings", "FilterBanks", "FilterDesign", "Manifolds", "Numerics", "Acoustics",
        "TestSupport",
      ], swiftSettings: waiting),
    .testTarget(
      name: "DetectionTests", dependencies: ["Detection", "Presets", "Acoustics", "TestSupport"],
      swiftSettings: waiting),
    .testTarget(
      name: "DiagnosisTests", dependencies: ["Diagnosis", "Detection", "Presets", "TestSupport"],
      swiftSettings: waiting),
    .testTarget(
      name: "SimulationTests",
      dependencies: [
        "Simulation", "Presets", "Acoustics", "AudioFiles", "Manifolds", "Numerics", "TestSupport",
      ]),
    .testTarget(
      name: "ArrayCheckTests",
      dependencies: [
        "ArrayCheck", "Simulation", "FilterBanks", "FilterDesign", "Figures", "Manifolds", "Presets",
        "Acoustics",
        "AudioFiles", "Numerics", "TestSupport",
      ]),
    // No JACK server: state machines, registers and clocks against fakes, in milliseconds; control sockets in temporary
    // folders. Optimised for sanitizers: otherwise ThreadSanitizer takes Swift's Mutex for a race.
    .testTarget(
      name: "ControlTests",
      dependencies: [
        "Control", "JackWorld", "Processor", "Messages", "JackClient", "Recording", "Realtime",
        "FilterDesign", "Rendering",
        "Presets", "Settings", "Acoustics", "Threads",
        "TestSupport",
      ] + (onlyCore ? [] : ["LiveSupport"]),
      swiftSettings: onlyCore ? [] : waiting),
    // No server: the guard, limits, names and what the page may ask.
    .testTarget(
      name: "WebPageTests",
      dependencies: ["WebPage", "CMicrohttpd", "Messages", "Settings", "TestSupport", "Threads"],
      swiftSettings: waiting),
    .testTarget(
      name: "MonitorTests",
      dependencies: [
        "Monitor", "Messages", "Plots", "Processor", "Presets", "Settings", "Acoustics", "TestSupport",
      ],
      swiftSettings: waiting),
    // Real sockets, other processes, another user.
    .testTarget(
      name: "SocketTests",
      dependencies: [
        "CSockets", "PinnaSession", "LiveSupport", "Acoustics", "Control", "Messages", "Settings", "Threads",
        "TestSupport",
      ],
      swiftSettings: waiting),
    .testTarget(
      name: "PlotsTests", dependencies: ["Plots", "Acoustics", "AudioFiles", "CCairo", "TestSupport"]),
    // Apart from VerbTests, which are not compiled again for a change in the tool itself.
    .testTarget(
      name: "ToolTests",
      dependencies: [
        "pinna", "Acoustics", "Detection", "Figures", "LiveSupport", "Messages", "Settings", "TestSupport",
      ],
      swiftSettings: waiting),
    .testTarget(
      name: "VerbTests",
      dependencies: [
        "PinnaSession", "GuidedCheck", "Detection", "FasterKernels",
        "LiveSupport", "TestSupport", "Messages", "Figures", "FilterBanks", "FilterDesign", "Numerics",
        "Presets", "Settings", "Recording", "Rendering", "Realtime", "AudioFiles", "Acoustics",
      ], swiftSettings: waiting),
    .testTarget(
      name: "LiveTests",
      dependencies: [
        "PinnaSession",
        "LiveSupport", "TestSupport",
        "Simulation",
        "Presets", "Settings",
        "Control", "Processor", "Messages", "JackClient", "JackTools", "CJack", "Recording", "Realtime",
        "FasterKernels", "AudioFiles",
        "Acoustics",
      ], swiftSettings: waiting),
    // A running Pinna without a server: libjack.c stands in libjack's place.
    .testTarget(
      name: "OfflineTests",
      dependencies: [
        "PinnaSession", "LiveSupport", "TestSupport", "Presets", "Settings", "Control", "Processor",
        "Messages",
        "JackClient", "Recording", "Realtime", "FasterKernels", "AudioFiles", "Acoustics",
        "Simulation", "Threads",
      ], swiftSettings: waiting),
    .testTarget(
      name: "FuzzTests",
      dependencies: ["FuzzSupport", "Manifolds", "Acoustics", "TestSupport"], swiftSettings: waiting),
    .testTarget(
      name: "DocsTests",
      dependencies: ["LiveSupport", "TestSupport", "Presets", "Acoustics"],
      swiftSettings: waiting),
  ],
  cLanguageStandard: .c2x
)

package.targets += faster

for target in package.targets where isQuick && roomsWithoutSound.contains(target.name) {
  target.swiftSettings = (target.swiftSettings ?? []) + waiting
}
if Context.environment["PINNA_PROGRAMS"] == nil { package.targets.removeAll { programs.contains($0.name) } }
if Context.environment["PINNA_WITHOUT_DESIGNS"] != nil {
  package.targets.removeAll { designTests.contains($0.name) }
}

// Rooms with a README, of which SwiftPM would warn.
let explained = [
  "Realtime", "Manifolds", "FilterDesign", "Recording", "JackClient", "Messages", "Processor", "Control",
]
for target in package.targets where explained.contains(target.name) { target.exclude.append("README.md") }

// With PINNA_FUZZERS set, the program that libFuzzer brings its own main for: `make fuzz`.
if Context.environment["PINNA_FUZZERS"] != nil {
  package.targets.append(
    .executableTarget(
      name: "Fuzzers", dependencies: ["FuzzSupport"], path: "Tests/Fuzzers",
      swiftSettings: [.unsafeFlags(["-parse-as-library"])]))
}

extension Target {
  /// The names of the package's own targets that it depends on.
  var dependencyNames: [String] {
    dependencies.compactMap {
      switch $0 {
      case .targetItem(let name, _), .byNameItem(let name, _): name
      default: nil
      }
    }
  }
}

if onlyCore {
  var kept: Set<String> = []
  var open = coreTests
  while let name = open.popLast() {
    guard kept.insert(name).inserted else { continue }
    open += package.targets.first { $0.name == name }?.dependencyNames ?? []
  }
  package.products = []
  package.targets = package.targets.filter { kept.contains($0.name) }
}
