import Diagnosis
import Foundation
import TestSupport
import Testing

@Suite("the report of pinna doctor") struct BugReportTests {
  @Test("home folder and user name do not appear in paths; other words stay")
  func privacy() {
    var report = BugReport(home: "/home/you", user: "you")
    report.add("takes", "/home/you/Music/pinna, /run/media/you/disk, /tmp/youth, you")
    report.add("empty", "")
    report.add("nothing", nil)
    #expect(report.text == "== takes\n~/Music/pinna, /run/media/~/disk, /tmp/youth, you\n")
  }

  @Test("only variables of JACK, PipeWire and XDG are reported, and no tokens")
  func environment() {
    let text = BugReport.environment([
      "JACK_DEFAULT_SERVER": "studio", "PIPEWIRE_LATENCY": "256/48000", "XDG_RUNTIME_DIR": "/run/user/1",
      "XDG_ACTIVATION_TOKEN": "secret", "AWS_KEY": "secret", "HOME": "/home/you",
    ])
    #expect(text == "JACK_DEFAULT_SERVER=studio\nPIPEWIRE_LATENCY=256/48000\nXDG_RUNTIME_DIR=/run/user/1")
  }

  @Test("kernel, distribution, processor with caches and sound cards are read from the system's files")
  func system() throws {
    let folder = try TemporaryFolder()
    for (path, text) in [
      ("etc/os-release", "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"),
      ("proc/version", "Linux version 6.1\n"), ("proc/cpuinfo", "processor : 0\nmodel name : Ryzen\n"),
      ("sys/devices/system/cpu/cpu0/cache/index0/level", "1\n"),
      ("sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n"),
      ("sys/devices/system/cpu/cpu0/cache/index0/size", "32K\n"),
      ("proc/asound/cards", " 0 [SPK]: USB\n"), ("proc/asound/card0/stream0", "Capture\n"),
    ] { try folder.write(text, to: path) }
    let root = SystemRoot(folder.path)
    #expect(root.distribution == "Debian GNU/Linux 12 (bookworm)")
    #expect(root.kernel == "Linux version 6.1")
    #expect(root.processor == "Ryzen\n1 cores\nL1 Data 32K")
    #expect(root.soundCards == "/proc/asound/cards:\n0 [SPK]: USB\n/proc/asound/card0/stream0:\nCapture")
  }

  @Test("a program that hangs is given up, and one that is missing gives nothing")
  func commands() {
    let start = ContinuousClock.now
    #expect(CommandOutput.of("sleep", ["20"], within: 0.1) == nil)
    #expect(CommandOutput.of("no-such-program-of-pinna") == nil)
    #expect(CommandOutput.of("false") == nil)
    #expect(CommandOutput.of("echo", ["hello"]) == Data("hello\n".utf8))
    #expect(ContinuousClock.now - start < .seconds(5))
  }
}
