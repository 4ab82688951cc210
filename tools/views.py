#!/usr/bin/env python3
"""What the terminal view and the web page cost the callback: its times with and without them, in turn, in one graph.

Usage: views.py PINNA [ROUNDS] [--browser]. The page's reader is curl, or headless Chromium with --browser. A preloaded
library times the callback from entry to exit. Needs jackd, cc, tmux, curl or chromium. Status 1 if p99 grows by more
than 5 % or xruns are added.
"""
import array, mmap, os, re, signal, subprocess, sys, tempfile, time

TIMER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
typedef int (*callback)(uint32_t, void *);
static callback inner;
static uint32_t *times;  // [0] counts; then durations in ns
static int timed(uint32_t frames, void *context) {
  struct timespec a, b;
  clock_gettime(CLOCK_MONOTONIC, &a);
  int result = inner(frames, context);
  clock_gettime(CLOCK_MONOTONIC, &b);
  uint32_t n = times[0] % 4194303;
  times[1 + n] = (uint32_t)((b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec);
  times[0]++;
  return result;
}
int jack_set_process_callback(void *client, callback function, void *context) {
  int file = open(getenv("PINNA_TIMES"), O_RDWR | O_CLOEXEC);
  times = mmap(0, 16777216, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  mlock(times, 16777216);
  inner = function;
  int (*set)(void *, callback, void *) = dlsym(RTLD_NEXT, "jack_set_process_callback");
  return set(client, timed, context);
}
"""


class Views:
    """The terminal view in tmux, and a reader of the page."""

    def __init__(self, home, pinna, env, url, browser):
        self.socket = os.path.join(home, "tmux")
        self.url, self.env = url, env
        subprocess.run(["tmux", "-S", self.socket, "-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "40",
                        f"'{pinna}' monitor"], env=env, check=True)
        if browser:
            words = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
                     "--user-data-dir=" + os.path.join(home, "chromium"), url]
        else:
            jar = os.path.join(home, "cookies")
            subprocess.run(["curl", "-sS", "-o", os.devnull, "-c", jar, url], check=True)
            words = ["curl", "-sSN", "-o", os.path.join(home, "events"), "-b", jar, url.split("?")[0] + "events"]
        self.reader = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       start_new_session=True)

    def screen(self):
        return subprocess.run(["tmux", "-S", self.socket, "capture-pane", "-p"], capture_output=True, text=True).stdout

    def close(self):
        try:
            os.killpg(self.reader.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.reader.wait()
        subprocess.run(["tmux", "-S", self.socket, "kill-server"])


def percentile(times, part):
    times = sorted(times)
    return times[min(len(times) - 1, int(part * len(times)))] / 1000


def main():
    browser = "--browser" in sys.argv
    words = [word for word in sys.argv[1:] if word != "--browser"]
    pinna, rounds = os.path.abspath(words[0]), int(words[1]) if len(words) > 1 else 12
    with tempfile.TemporaryDirectory() as home:
        code, library, file = (os.path.join(home, name) for name in ("t.c", "t.so", "times"))
        open(code, "w").write(TIMER)
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, code, "-ldl"], check=True)
        with open(file, "wb") as out:
            out.truncate(16777216)
        server = f"pinna-views-{os.getpid()}"
        env = {**os.environ, "HOME": home, "XDG_RUNTIME_DIR": home, "JACK_DEFAULT_SERVER": server}
        env.pop("XDG_CONFIG_HOME", None)
        jackd = subprocess.Popen(["jackd", "-n", server, "-R", "-d", "dummy", "-r", "48000", "-p", "128"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        program = None
        try:
            for _ in range(100):
                if subprocess.run(["jack_lsp"], env=env, capture_output=True).returncode == 0:
                    break
                time.sleep(0.1)
            log = open(os.path.join(home, "log"), "w+")
            program = subprocess.Popen([pinna, "run", "--preset", "phone5", "--web", "0"],
                                       env={**env, "LD_PRELOAD": library, "PINNA_TIMES": file}, stdout=log, stderr=log)
            url = None
            for _ in range(100):
                url = re.search(r"http://\S+token=\S+", open(log.name).read())
                if url:
                    break
                time.sleep(0.1)
            measure(home, pinna, env, url[0], file, rounds, browser)
        finally:
            for process in (program, jackd):
                if process:
                    process.terminate()
                    process.wait(20)


def measure(home, pinna, env, url, file, rounds, browser):
    memory = mmap.mmap(os.open(file, os.O_RDONLY), 16777216, prot=mmap.PROT_READ)

    def count():
        return int.from_bytes(memory[:4], "little")

    def xruns():
        text = subprocess.run([pinna, "status", "--json"], env=env, capture_output=True, text=True).stdout
        return int(re.search(r'"xruns":\s*(\d+)', text)[1])

    def times(seconds):
        before, first = xruns(), count()
        time.sleep(seconds)
        last = count()
        part = array.array("I")
        part.frombytes(memory[4 * (1 + first):4 * (1 + last)])
        return list(part), xruns() - before

    time.sleep(3)
    seen = {False: [], True: []}
    added = {False: 0, True: 0}
    for n in range(2 * rounds):
        is_open = n % 2 == 1
        views = Views(home, pinna, env, url, browser) if is_open else None
        time.sleep(4 if browser else 2)
        part, late = times(5)
        if views:
            if "LIVE" not in views.screen():
                raise SystemExit("the terminal view did not open: " + views.screen())
            if views.reader.poll() is not None:
                raise SystemExit("the page's reader ended")
            if not browser and os.path.getsize(os.path.join(home, "events")) < 20000:
                raise SystemExit("the page sent nothing")
            views.close()
        seen[is_open] += part
        added[is_open] += late
    print("| callback (µs) | periods | p50 | p99 | p99.9 | xruns |\n|---|---|---|---|---|---|")
    for is_open, name in ((False, "alone"), (True, f"terminal view and page ({'Chromium' if browser else 'curl'})")):
        all_ = seen[is_open]
        print(f"| {name} | {len(all_)} | " + " | ".join(f"{percentile(all_, p):.2f}" for p in (0.5, 0.99, 0.999))
              + f" | {added[is_open]} |")
    ratio = percentile(seen[True], 0.99) / percentile(seen[False], 0.99)
    kept = ratio <= 1.05 and added[True] <= added[False]
    print(f"p99 with them over alone: {ratio:.3f} (at most 1.05), added xruns {added[True] - added[False]}: "
          + ("kept" if kept else "MISSED"))
    sys.exit(0 if kept else 1)


main()
