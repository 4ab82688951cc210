import Foundation
import LiveSupport
import TestSupport
import Testing

/// Where a systemd user manager can be tried.
private enum UserManager {
  private static let manager = "/lib/systemd/systemd"
  static let isPossible: Bool = {
    guard getuid() == 0, access(manager, X_OK) == 0, access("/run/systemd/system", F_OK) != 0 else {
      return false
    }
    let tried = try? Program.run(
      "/usr/bin/unshare",
      ["-m", "-p", "-f", "--mount-proc", "/bin/sh", "-c", "mount -t tmpfs tmpfs /run && \(begin) true"],
      seconds: 20)
    return tried?.status == 0
  }()

  /// Moves the shell into cgroups of its own, in each of systemd's two hierarchies, or in the only one.
  static let begin = """
    for tree in /sys/fs/cgroup/systemd /sys/fs/cgroup/unified /sys/fs/cgroup; do
      [ -e $tree/cgroup.procs ] || continue
      mkdir -p $tree/pinna-test && echo $$ >$tree/pinna-test/cgroup.procs || exit 1
    done;
    """
}

extension LiveTests {
  /// systemd's own judgement of the user unit: a user manager in namespaces of its own.
  @Suite(
    "A real user manager",
    .enabled(
      if: UserManager.isPossible,
      "needs root, the right to mount and to make cgroups, and no systemd that runs"))
  struct UserManagerTests {
    /// Reports what `systemctl` says at each step.
    private static let steps = #"""
      set -u
      mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system
      user() { systemctl --user "$@"; }
      tell() { echo "$1: $(user is-active "$2"), $(user show -P StatusText "$2")"; }
      /lib/systemd/systemd --user >"$FOLDER/manager" 2>&1 & manager=$!
      for n in $(seq 200); do [ "$(user is-active default.target 2>/dev/null)" = active ] && break; sleep 0.1; done
      for n in $(seq 100); do [ -n "$(user show -P StatusText pinna)" ] && break; sleep 0.1; done
      tell "after login" default.target
      tell "without a server" pinna
      jackd -n "$JACK_DEFAULT_SERVER" -r -p 128 -d dummy -r 48000 -p 1024 >"$FOLDER/jackd" 2>&1 & jackd=$!
      user start pinna
      tell "with a server" pinna
      jack_lsp pinna:out_left
      "$PINNA" stop; for n in $(seq 100); do [ "$(user is-active pinna)" = inactive ] && break; sleep 0.1; done
      tell "stopped" pinna
      "$PINNA" monitor --web; echo "opened, status $?"
      user start pinna
      tell "opened" pinna
      echo 'PINNA_OPTIONS=--nonsense' >"$FOLDER/options"
      user stop pinna; "$PINNA" monitor --web; echo "not opened, status $?"
      kill $jackd; kill $manager; wait
      """#

    @Test(
      "the unit is started once Pinna is in the graph, delays no login, and is what the page's opener starts")
    func unit() throws {
      let home = try PinnaHome()
      let folder = home.folder.path
      let desktop = try Desktop(home: home)
      let unit = try String(contentsOfFile: repositoryFolder + "/packaging/pinna.service", encoding: .utf8)
      try home.folder.write(
        unit.replacing("@PREFIX@/bin/pinna", with: PinnaHome.binary())
          + "\n[Service]\nEnvironment=PINNA_OPTIONS=--no-connect\nEnvironmentFile=-\(folder)/options\n",
        to: "config/systemd/user/pinna.service")
      let wants = home.configFolder + "/systemd/user/default.target.wants"
      try FileManager.default.createDirectory(atPath: wants, withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(
        atPath: wants + "/pinna.service", withDestinationPath: "../pinna.service")
      let script = try home.folder.write(UserManager.begin + "\n" + Self.steps, to: "steps")
      let outcome = try Program.run(
        "/usr/bin/unshare", ["-m", "-p", "-f", "--mount-proc", "--kill-child", "/bin/sh", script],
        environment: desktop.environment.merging([
          "FOLDER": folder, "PINNA": try PinnaHome.binary(), "JACK_DEFAULT_SERVER": LiveGraph.uniqueName(),
          "JACK_NO_AUDIO_RESERVATION": "1",
        ]) { $1 }, seconds: 120)
      // Its own cgroups are empty by now.
      _ = try Program.run(
        "/bin/sh", ["-c", "find /sys/fs/cgroup -depth -path '*/pinna-test*' -type d -exec rmdir {} +"])
      let inGraph = "active, pinna is in the graph: 5 microphones, preset phone5"
      #expect(
        outcome.output == """
          after login: active, 
          without a server: activating, not in the graph yet
          with a server: \(inGraph)
          pinna:out_left
          stopped
          stopped: inactive, stopping
          opened, status 0
          opened: \(inGraph)
          not opened, status 1

          """, "\(outcome)\((try? String(contentsOfFile: folder + "/manager", encoding: .utf8)) ?? "")")
      #expect(desktop.opened.count == 1 && desktop.opened.first?.hasPrefix("http://127.0.0.1:") == true)
      #expect(
        outcome.error.contains("pinna.service has failed; see: journalctl --user -u pinna"), "\(outcome)")
    }
  }
}
