# Pinna. Three commands matter: `make run`, `make check` and `make test`; all can be run again, on a fresh Debian 12 or 13 too.
# Where the numpy oracle is: it judges exported filters on an array manifold of its own.
ORACLE ?= ../shared/oracle

QUICKLY = tools/quickly

# What is installed and packaged: optimised as a whole, with Swift's libraries in it.
PROGRAM = .build/static/release/pinna

# The plug-in of LV2 hosts, with Swift's libraries in it: hosts that run it have none.
LIBRARY = .build/pinna-lv2.so

.PHONY: check nightly plugin install uninstall deb deb-test arm64-test arm64-cost mutations bench views listen scenes run test figures filters pictures build install-packages lint sanitize sanitize-live soak soak-pipewire soak-debians fuzz fuzzers faults day format clean

# Designs have a thread per core; those of OpenBLAS would wait for each other beside them.
export OPENBLAS_NUM_THREADS = 1
TESTS = .build/release/pinnaPackageTests.xctest --testing-library swift-testing
SANITIZE_THREAD = --scratch-path .build/tsan --sanitize=thread
# Slow tests on one thread, in which ThreadSanitizer can find nothing.
ONE_THREAD = ConvolutionTests/|PeriodChangeTests/|FakeEngineTests/|OneTimeNameTests/|PluginTests/(odd|regular|anyLength|file)
SANITIZE_ADDRESS = --scratch-path .build/asan --sanitize=address

## Install what is missing, build, and show it at work.
run: install-packages
	@$(BEGIN)
	$(STEP) "Build" $(QUICKLY) --product pinna
	@ln -sf release/pinna .build/pinna
	$(STEP) "Demo" .build/pinna demo
	@$(TIMES)

STEP = @sh tools/step

# What sanitizers depend on beside the rooms.
SANITIZED = Tests/RealtimeTests Tests/PluginTests Tests/ControlTests Tests/Support Makefile Package.swift
# Suites that design filters from nothing.
DESIGNS = FilterDesignTests ArrayCheckTests SimulationTests AdaptationTests RenderingTests
# Parts of tools/tests; the longest first.
WITHOUT_SERVER = rooms verbs-3 engine offline-1 verbs-4 offline-0 offline-3 verbs-1 offline-2 verbs-0 verbs-2 verbs-5

## What a change must pass while it is made: everything that needs no server, but for long tests (PINNA_QUICK=0: these, too),
## tests that design filters from nothing, and those of the documents.
check: export PINNA_QUICK ?= 1
check: install-packages
	@$(BEGIN)
	$(STEP) "Style" $(MAKE) --no-print-directory lint
	$(STEP) "Build with tests" env PINNA_WITHOUT_DESIGNS=1 $(QUICKLY) --build-tests
	@sh tools/check-inlined
	$(STEP) "Tests without a server" tools/tests $(WITHOUT_SERVER)
	@$(TIMES)

## Everything that a change must pass. sox reads takes strictly, ambix-info and sndfile-info B-format; jconvolver and
## PipeWire run exported configurations, lilv-utils, jalv and Ardour the plug-in; PipeWire is the other server; tmux is the
## terminal of `pinna monitor`. Steps of the last lines run if something that they test has changed since the last nightly
## (tools/due).
test: export PINNA_QUICK = 0
test: PACKAGES = sox libambix-utils sndfile-programs jconvolver iproute2 tmux pipewire pipewire-jack pipewire-bin \
  wireplumber dbus-daemon lilv-utils sordi jalv desktop-file-utils appstream xdg-utils python3
test: OPTIONAL = $(ARM64) ardour
test: install-packages
	@$(BEGIN)
	$(STEP) "Style" $(MAKE) --no-print-directory lint
	@tools/due "Designs from nothing" "$(DESIGNS)" "Tests/Golden Presets"; \
	  case $$? in 0) touch .build/designs ;; 3) rm -f .build/designs ;; *) exit 1 ;; esac
	$(STEP) "Build with tests" env $$(test -e .build/designs || echo PINNA_WITHOUT_DESIGNS=1) $(QUICKLY) --build-tests
	@sh tools/check-inlined
	$(STEP) "Tests without a server" tools/tests $(WITHOUT_SERVER)
	@sh tools/free-places
	$(STEP) "Pinna in JACK's graph" tools/tests live
	$(STEP) "Pinna in PipeWire's graph" tools/tests pipewire
	@sh tools/step "Documents, and designs from nothing if due" \
	  tools/tests documents $$(test ! -e .build/designs || echo designs-0 designs-1)
	@tools/due "Proof of the callback by the compiler" "JackClient LV2Plugin" Makefile $(MAKE) --no-print-directory prove
	@tools/due "The engine for arm64, emulated" "Realtime Kernels" "tools/arm64 Tests/ARM64 Tests/Support Sources/Numerics" \
	  sh -c 'tools/arm64 build && tools/arm64 test'
	@tools/due "Two sanitizers" "Realtime Plugin LV2Plugin Control JackWorld" "$(SANITIZED)" $(MAKE) --no-print-directory sanitize
	@tools/due "A live graph under RealtimeSanitizer" "JackWorld FasterKernels" \
	  "Tests/LiveTests/SoakTests.swift Tests/Support/Live tools/rtsan" \
	  $(MAKE) --no-print-directory sanitize-live
	@$(TIMES)
	@echo "== Everything passed"

# One run at a time in this folder. The processor, first in the file of the steps' seconds.
BEGIN = mkdir -p .build/tests && { flock -n .build/tests/lock true || { echo "make: tests are running in this folder" >&2; exit 1; }; } && sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1 >.build/times.txt

## Everything of the gate, and what takes longer: all live tests, faults, fuzzers, mutations, designs, an endurance run. In
## eight parts, of which SHARD=3/8 runs the third alone. A table of what ran is kept in .build/nightly.
nightly: export PINNA_CONSUMER = 1
nightly: PACKAGES = sox ffmpeg iproute2 pipewire pipewire-jack pipewire-bin python3
nightly: OPTIONAL = chromium python3-websocket xvfb zsh parallel slurm-wlm munge
nightly: install-packages
	@python3 tools/nightly $(SHARD)

# The processor, and the seconds of each step.
TIMES = awk '{ print; sum += $$2 == "s" && $$3 != "of" ? $$1 : 0 } END { printf "%5d s  together\n", sum }' .build/times.txt

## The compiler proves the callback free of locks and allocation, in debug builds only.
prove:
	@echo "== $$(date +%T) Debug build of the callback"
	swift build --target LV2Plugin
	swift build --target JackClient

## The engine and its queues under two more sanitizers; each stops at its first report. RealtimeSanitizer watches the gate's
## own tests of them (tools/tests engine).
sanitize: export PINNA_ONLY_CORE = 1
sanitize: export PINNA_RACES = 10000
sanitize: export PINNA_SEQUENCES = 3000
sanitize:
	@echo "== $$(date +%T) ThreadSanitizer"
	TSAN_OPTIONS=halt_on_error=1 timeout 40m $(THREAD_TESTS) --skip '$(ONE_THREAD)'
	@echo "== $$(date +%T) AddressSanitizer"
	swift build --build-tests --disable-xctest -c release $(SANITIZE_ADDRESS)
	ASAN_OPTIONS=halt_on_error=1 timeout 40m $(SANITIZED_TESTS) $(SANITIZE_ADDRESS)

# `swift test` would add -enable-testing and compile everything again, for the tool, too. ThreadSanitizer needs that:
# without it, parts of Swift's Mutex are inlined, and it takes the rest, which it does not see, for a race.
SANITIZED_TESTS = swift test --skip-build --disable-xctest -c release
THREAD_TESTS = swift test --disable-xctest -c release $(SANITIZE_THREAD)

## The whole processor in a live graph under RealtimeSanitizer: changes every 20 ms, a new period every second.
sanitize-live:
	@echo "== $$(date +%T) The processor in a live graph under RealtimeSanitizer"
	env $$(test -e .build/designs || echo PINNA_WITHOUT_DESIGNS=1) $(QUICKLY) --build-tests
	tools/tests soak

## The engine compiled for arm64, in qemu's emulation: every layout against direct convolution. Skipped where a package of it is
## missing.
ARM64 = qemu-user-static libc6-dev-arm64-cross libgcc-12-dev-arm64-cross
arm64-test: OPTIONAL = $(ARM64)
arm64-test: install-packages
	@tools/arm64 test

## Instructions per period on arm64 beside the x86-64 baseline, as qemu counts them.
arm64-cost: OPTIONAL = $(ARM64)
arm64-cost: install-packages
	@tools/arm64 cost

## Long runs in JACK's graph: the whole processor under RealtimeSanitizer for a minute each, the state machine's ten million
## sequences, and two hours of everything at random; `make day` plays 24 h of sound. The nightly takes less of each.
soak: export PINNA_NIGHTLY = 1
soak: export PINNA_SOAK_SECONDS = 60
soak: export PINNA_ENDURANCE_SECONDS ?= 7200
soak: export PINNA_MEMORY_SECONDS ?= 600
soak: export PINNA_SEQUENCES ?= 10000000
soak: PACKAGES = sox
soak: install-packages sanitize-live
	$(TESTS) --filter RandomSequenceTests
	$(TESTS) --filter 'LiveTests.*EnduranceTests'
	$(TESTS) --filter 'LiveTests.*MemoryTests'

## The same in PipeWire's: ten minutes each of everything at random, and of memory.
soak-pipewire: export PINNA_NIGHTLY = 1
soak-pipewire: export PINNA_PIPEWIRE_SECONDS ?= 600
soak-pipewire: export PINNA_MEMORY_SECONDS ?= 600
soak-pipewire: PACKAGES = pipewire pipewire-jack pipewire-bin
soak-pipewire: install-packages
	$(QUICKLY) --build-tests
	pw-jack $(TESTS) --filter PipeWireEnduranceTests
	pw-jack $(TESTS) --filter 'LiveTests.*MemoryTests'

## All tests of PipeWire in roots of newer Debians (tools/pipewire-roots), with ten minutes of everything at random.
soak-debians: export PINNA_NIGHTLY = 1
soak-debians: export PINNA_FAULTS = 1
soak-debians: export PINNA_PIPEWIRE_SECONDS ?= 600
soak-debians: install-packages
	$(QUICKLY) --build-tests
	tools/pipewire-roots

## Faults planted in the state machine, each of which ControlTests must notice.
mutations: install-packages
	python3 tools/mutations

## The table of figures over all presets: must, aim, reached. Fails where one that must be reached is missed.
figures: install-packages
	$(QUICKLY) --build-tests
	@ln -sf release/pinna .build/pinna
	@echo "== Figures of every preset on the full mesh, into .build/figures.md"
	PINNA_PROGRAMS=1 $(QUICKLY) --product figure-table
	@.build/release/figure-table > .build/figures.md; status=$$?; cat .build/figures.md; \
	  echo "== The oracle's judgement of exported filters"; \
	  sh tools/evaluate-exports "$(ORACLE)" || status=1; \
	  echo "== Every error at every microphone, and 100 clean arrays"; \
	  PINNA_ARRAY_DRAWS=1 $(TESTS) --filter ArrayCheckTests || status=1; \
	  echo "== Every field of a design changes its filters"; \
	  PINNA_EVERY_FIELD=1 $(TESTS) --filter DesignParametersTests || status=1; \
	  echo "== Directivity at 72 looks of four arrays"; \
	  PINNA_EVERY_LOOK=1 $(TESTS) --filter LookDirectivityTests || status=1; exit $$status

## The filter sets that ship, designed anew: half an hour.
filters: export XDG_CACHE_HOME = $(CURDIR)/.build/shipped
filters: export PINNA_PRESETS = $(CURDIR)/Presets
filters: install-packages build
	rm -rf Presets/filters .build/shipped
	sh tools/filters
	mv .build/shipped/pinna/filters Presets/filters

## Every parser fed by libFuzzer for PINNA_FUZZ_SECONDS, under AddressSanitizer, from the corpora of Tests/FuzzCorpus on.
PINNA_FUZZ_SECONDS ?= 10
# SOFA files are counted instead: 50 for each of these (FuzzTests takes its inputs in thousands, of SOFA files a twentieth).
PINNA_FUZZ_THOUSANDS ?= 10
FUZZED = $(basename $(notdir $(wildcard Tests/FuzzCorpus/*.dict)))
FUZZERS = .build/fuzzers/release/Fuzzers
fuzz: install-packages fuzzers
	@for parser in $(FUZZED); do echo "== libFuzzer, $(PINNA_FUZZ_SECONDS) s: $$parser"; \
	  sh tools/fuzz $(FUZZERS) $$parser -max_total_time=$(PINNA_FUZZ_SECONDS) || exit 1; done
	$(QUICKLY) --build-tests
	@echo "== SOFA files, whose reader is a process with limits of its own: good ones made bad by chance"
	PINNA_FUZZ=$(PINNA_FUZZ_THOUSANDS) PINNA_FUZZ_SEED=$$(date +%s) $(TESTS) --filter FuzzTests/sofaFiles

fuzzers: export PINNA_FUZZERS = 1
fuzzers:
	swift build -c release --product Fuzzers --scratch-path .build/fuzzers --sanitize=fuzzer --sanitize=address \
	  -Xswiftc -sanitize=fuzzer

## Fault injection: promises R1 to R56 with what was measured, in at most 45 minutes. WITHOUT_SANITIZERS=1 leaves out what
## the gate runs, too.
FAULTS = .build/faults
FAULTS_RUN = PINNA_FAULTS=1 PINNA_FAULTS_LOG="$(CURDIR)/$(FAULTS).log" $(TESTS)
# The suites in a graph whose tests name a promise: files of Tests/LiveTests with a title that begins with "R<number>:".
FAULTS_OFFLINE = $(shell grep -rlE '"R[0-9]+: ' Tests/OfflineTests | sed -E 's,.*/(.*)\.swift,\1,' | sort | paste -sd '|')
FAULTS_LIVE = $(shell grep -rlE '"R[0-9]+: ' Tests/LiveTests | sed -E 's,.*/(.*)\.swift,\1,' | grep -v PipeWire | sort | paste -sd '|')
FAULTS_VERBS = $(shell grep -rlE '"R[0-9]+: ' Tests/VerbTests | sed -E 's,.*/(.*)\.swift,\1,' | sort | paste -sd '|')
# Those in PipeWire's graph: its own, and OthersTests and MemoryTests in both worlds.
FAULTS_PIPEWIRE = PipeWire[A-Za-z]*Tests|OthersTests|MemoryTests
faults: export PINNA_NIGHTLY = 1
faults: PACKAGES = sox ffmpeg iproute2 pipewire pipewire-jack pipewire-bin
faults: install-packages
	@echo "== Fault injection; what the tests say is in $(FAULTS).txt"
	@mkdir -p .build && rm -f $(FAULTS).txt $(FAULTS).log && touch $(FAULTS).txt $(FAULTS).log
	$(QUICKLY) --build-tests
	@echo "== $$(date +%T) Parsers, and times against each other, with nothing beside them"
	$(FAULTS_RUN) --no-parallel --filter 'FuzzTests/|GuardTests/cost|DesignCancellationTests/' >>$(FAULTS).txt 2>&1 \
	  || echo "faults: not every parser or time passed" >>$(FAULTS).txt
	@echo "== $$(date +%T) Without a server"
	$(FAULTS_RUN) --filter '^(Realtime|Presets|Recording|Control|FilterDesign|Socket|Plugin|WebPage)Tests|^VerbTests\.($(FAULTS_VERBS))/' --skip GuardTests/cost --skip DesignCancellationTests --skip sanitizerHears >>$(FAULTS).txt 2>&1 \
	  || echo "faults: not every test without a server passed" >>$(FAULTS).txt
	@echo "== $$(date +%T) Pinna without a server"
	$(FAULTS_RUN) --filter 'OfflineTests/($(FAULTS_OFFLINE))/' >>$(FAULTS).txt 2>&1 \
	  || echo "faults: not every test of Pinna without a server passed" >>$(FAULTS).txt
	@echo "== $$(date +%T) In a graph"
	@sh tools/free-places
	$(FAULTS_RUN) --filter 'LiveTests/($(FAULTS_LIVE))/' >>$(FAULTS).txt 2>&1 \
	  || echo "faults: not every test in a graph passed" >>$(FAULTS).txt
	@echo "== $$(date +%T) In PipeWire's graph"
	PINNA_FAULTS=1 PINNA_FAULTS_LOG="$(CURDIR)/$(FAULTS).log" pw-jack $(TESTS) --filter '^LiveTests\.(LiveTests/)?($(FAULTS_PIPEWIRE))/' >>$(FAULTS).txt 2>&1 \
	  || echo "faults: not every test in PipeWire's graph passed" >>$(FAULTS).txt
	@echo "== $$(date +%T) Ten million packets"
	@if $(MAKE) --no-print-directory fuzzers >$(FAULTS)-packets.txt 2>&1; then \
	  sh tools/fuzz $(FUZZERS) osc -runs=10000000 -max_len=512 \
	  >>$(FAULTS)-packets.txt 2>&1 && verdict=kept || verdict=BROKEN; \
	  printf 'R17\t10 million packets of libFuzzer, under ASan\t%s\tno report\t%s\n' \
	  "$$(test $$verdict = kept && echo no report || echo reports)" $$verdict >>$(FAULTS).log; \
	  else echo "faults: the fuzzers were not built, and no packet was sent: see $(FAULTS)-packets.txt" >>$(FAULTS).txt; fi
	@if test -n "$(WITHOUT_SANITIZERS)"; then printf 'R27\tsanitizers\tleft to the gate\tclean\tkept in part\n' >>$(FAULTS).log; \
	  else echo "== $$(date +%T) Three sanitizers"; { tools/tests engine && $(MAKE) --no-print-directory sanitize; } >$(FAULTS)-sanitizers.txt 2>&1 && verdict=kept || verdict=BROKEN; \
	  printf 'R27\tengine and queues under RTSan, TSan, ASan\t%s\tclean\t%s\n' \
	  $$(test $$verdict = kept && echo clean || echo reports) $$verdict >>$(FAULTS).log; fi
	@echo "== $$(date +%T) What was promised, and what came of it"
	@sh tools/faults-table $(FAULTS).log $(FAULTS).txt

## R1 whole, however long 24 h of sound take in freewheel.
day: export PINNA_NIGHTLY = 1
day: install-packages
	$(QUICKLY) --build-tests
	PINNA_FAULTS=1 PINNA_FAULT_SECONDS=7200 $(TESTS) --filter FaultTests/hours

## The pictures of the pages: a plot, and the web page in Chromium.
pictures: PACKAGES = chromium python3-websocket
pictures: install-packages build
	rm -rf .build/plots
	.build/pinna report --preset phone5 --separate --plots .build/plots >/dev/null
	mkdir -p docs/pictures
	cp .build/plots/back-stereo-portrait-polar.svg docs/pictures/
	sh tools/page-picture .build/pinna docs/pictures/page.png

## Eight comparisons to judge by ear, in five minutes with headphones: plain microphones, Pinna, the listener's own ears.
## Also a blind test of linear filters against --adapt, --wind and --room, and of today's filters against earlier ones: the
## last release's, or BEFORE's (tools/listen).
listen: PACKAGES = python3-numpy espeak-ng ffmpeg
listen: install-packages build
	@echo "== Comparisons into .build/listen (takes two or three minutes)"
	@/usr/bin/python3 tools/listen

## Stereo that follows the sound, talkers, wind and parts of the sound, in scenes whose parts are known: tables (tools/scenes).
## PINNA_EVERY_SCENE=1: every case of the phone, more devices, three seeds.
scenes: PACKAGES = alsa-utils espeak-ng time
scenes: install-packages
	PINNA_PROGRAMS=1 swift build -c release --product pinna # Reads SOFA files; adaptive-scenes looks for it beside itself.
	PINNA_PROGRAMS=1 swift build -c release --product adaptive-scenes
	@sh tools/scenes $(ORACLE)

## The engine against zita-convolver, in turn on the same matrix; fails where a goal is missed. Wants a quiet machine.
## BENCH_PAGE=docs/performance.md writes the table of that page, too.
bench:
	@sh tools/install-packages g++ libzita-convolver-dev
	swift build -c release --product pinna-benchmarks
	@sh tools/bench .build/release/pinna-benchmarks .build $(BENCH_PAGE)

## What the terminal view and the web page cost the callback, in turn with and without them. Wants a quiet machine.
views: PACKAGES = tmux curl gcc
views: install-packages build
	@/usr/bin/python3 tools/views.py $(PROGRAM)

## The program, optimised as a whole, into .build/pinna.
build: $(PROGRAM)
	@ln -sf static/release/pinna .build/pinna

## Installs Pinna below PREFIX. BINARY names one that is built already, DESTDIR a folder for packages.
PREFIX ?= /usr/local
BINARY ?= $(PROGRAM)
# Another program has the plug-in that was built with it beside it.
PLUGIN ?= $(if $(filter $(PROGRAM),$(BINARY)),$(LIBRARY),$(dir $(BINARY))libpinna-lv2.so)
# Debian's packages use vendor-completions.
ZSH_FUNCTIONS ?= share/zsh/site-functions
INTO = $(DESTDIR)$(PREFIX)
# Names the desktop entry, its icon and its metadata.
APP = org.pinna_audio.pinna
ENTRY = share/applications/$(APP).desktop
METADATA = share/metainfo/$(APP).metainfo.xml
ICON = share/icons/hicolor/scalable/apps/$(APP).svg
COMPLETIONS = share/bash-completion/completions/pinna $(ZSH_FUNCTIONS)/_pinna \
  share/fish/vendor_completions.d/pinna.fish
UNITS = pinna.service pinna-pipewire.service
# Where systemd looks: below ~/.local, in share only.
UNIT_FOLDER = $(if $(filter $(HOME)/%,$(PREFIX)),share,lib)/systemd/user
install: $(BINARY) $(PLUGIN)
	@case "$(PREFIX)" in /*) ;; *) \
	  echo "PREFIX=$(PREFIX) is not an absolute path, which the systemd units need; give one" >&2; exit 1;; esac
	install -D -m 755 "$(BINARY)" "$(INTO)/bin/pinna"
	install -D -m 644 "$(PLUGIN)" "$(INTO)/lib/pinna/pinna-lv2.so"
	strip "$(INTO)/bin/pinna" "$(INTO)/lib/pinna/pinna-lv2.so"
	@# Presets of an earlier version must not stay.
	rm -rf "$(INTO)/share/pinna/presets" "$(INTO)/share/pinna/control-surfaces" "$(INTO)/share/doc/pinna"
	install -d "$(INTO)/share/pinna/presets" "$(INTO)/share/doc/pinna"
	cp -R Presets/. "$(INTO)/share/pinna/presets"
	cp -R share/control-surfaces "$(INTO)/share/pinna"
	cp -R README.md CHANGELOG.md LICENSE docs "$(INTO)/share/doc/pinna"
	chmod -R u=rwX,go=rX "$(INTO)/share/pinna/presets" "$(INTO)/share/pinna/control-surfaces" \
	  "$(INTO)/share/doc/pinna"
	install -d "$(INTO)/share/man/man1" "$(INTO)/$(UNIT_FOLDER)" \
	  $(foreach file,$(COMPLETIONS),"$(INTO)/$(dir $(file))")
	"$(INTO)/bin/pinna" help --man >"$(INTO)/share/man/man1/pinna.1"
	"$(INTO)/bin/pinna" help --completions bash >"$(INTO)/$(word 1,$(COMPLETIONS))"
	"$(INTO)/bin/pinna" help --completions zsh >"$(INTO)/$(word 2,$(COMPLETIONS))"
	"$(INTO)/bin/pinna" help --completions fish >"$(INTO)/$(word 3,$(COMPLETIONS))"
	for unit in $(UNITS); do \
	  sed 's,@PREFIX@,$(PREFIX),' packaging/$$unit >"$(INTO)/$(UNIT_FOLDER)/$$unit" || exit 1; done
	install -D -m 644 packaging/$(APP).metainfo.xml "$(INTO)/$(METADATA)"
	install -D -m 644 Sources/WebPage/Resources/icon.svg "$(INTO)/$(ICON)"
	install -D -m 644 /dev/null "$(INTO)/$(ENTRY)"
	sed 's,@PREFIX@,$(PREFIX),' packaging/$(APP).desktop >"$(INTO)/$(ENTRY)"
	@echo "== Plug-ins for LV2 hosts: pinna export --to lv2 --all ~/.lv2"

## Removes what `make install` with the same PREFIX wrote; settings, takes and presets of users stay.
uninstall:
	rm -f "$(INTO)/bin/pinna" "$(INTO)/lib/pinna/pinna-lv2.so" "$(INTO)/share/man/man1/pinna.1" $(foreach file,$(COMPLETIONS),"$(INTO)/$(file)")
	rm -f $(foreach unit,$(UNITS),"$(INTO)/$(UNIT_FOLDER)/$(unit)")
	rm -f "$(INTO)/$(ENTRY)" "$(INTO)/$(METADATA)" "$(INTO)/$(ICON)"
	rm -rf "$(INTO)/share/pinna/presets" "$(INTO)/share/pinna/control-surfaces" "$(INTO)/share/doc/pinna"
	rmdir --ignore-fail-on-non-empty "$(INTO)/share/pinna" "$(INTO)/lib/pinna"

# The system's libraries are not in it: pw-jack puts PipeWire's libjack in the place of JACK's.
$(PROGRAM): Package.swift $(shell find Sources -type f)
	@sh tools/install-packages
	@echo "== Building Pinna (the first time takes some minutes)"
	swift build -c release --product pinna --static-swift-stdlib --disable-local-rpath --scratch-path .build/static
	touch $@

## The plug-in for LV2 hosts, which `pinna export --to lv2` puts into bundles.
plugin: $(LIBRARY)

$(LIBRARY): Package.swift $(shell find Sources -type f)
	@sh tools/install-packages
	swift build -c release --product pinna-lv2 -Xswiftc -static-stdlib --disable-local-rpath --scratch-path .build/plugin
	strip -o $@ .build/plugin/release/libpinna-lv2.so

## The Debian package of this Debian, into .build/deb; or those of others, each built in a root file system of its own, as
## root: make deb SUITES="bookworm trixie".
deb: PACKAGES = $(if $(SUITES),mmdebstrap,dpkg-dev)
deb: install-packages $(if $(SUITES),,$(BINARY))
	sh tools/deb $(if $(SUITES),--in $(SUITES),"$(BINARY)")

## The packages of Debian 12 and 13: built, installed, tried, removed. Needs root, and Debian's archive.
deb-test:
	@sh tools/install-packages lintian mmdebstrap
	sh tools/deb-test bookworm trixie

# Without its OPTIONAL packages, a target does less, and says so.
install-packages:
	@sh tools/install-packages $(PACKAGES) --if-possible $(OPTIONAL)

lint:
	@echo "== Format"
	swift format lint --parallel --recursive --strict Package.swift Sources Tests Benchmarks
	@echo "== Escapes from the realtime checks stand in two files"
	@sh tools/check-escapes
	@echo "== Tests name every promise, and nothing names this machine or has a line of the seeds"
	@sh tools/check-tests
	@python3 tools/mutations --check

format:
	swift format --in-place --recursive Package.swift Sources Tests Benchmarks

clean:
	rm -rf .build
