# Pinna. Two commands matter: `make run` and `make test`; both can be run again, on a fresh Debian 12 too.
# Where the numpy oracle is: it judges exported filters on an array manifold of its own.
ORACLE ?= ../shared/oracle

.PHONY: run test figures build install-packages lint sanitize sanitize-live soak format clean

SANITIZE_REALTIME = --scratch-path .build/rtsan -Xswiftc -Xclang-linker -Xswiftc -fsanitize=realtime
SANITIZE_REALTIME_PRODUCT = --scratch-path .build/rtsan-pinna -Xswiftc -Xclang-linker -Xswiftc -fsanitize=realtime
SANITIZE_THREAD = --scratch-path .build/tsan --sanitize=thread
SANITIZE_ADDRESS = --scratch-path .build/asan --sanitize=address

## Install what is missing, build, and show it at work in under a minute.
run: install-packages
	@echo "== Building Pinna (the first time takes about a minute)"
	swift build -c release --product pinna
	@echo "== pinna demo"
	.build/release/pinna demo

## Everything that a change must pass.
test: install-packages lint
	@echo "== Debug build: the compiler proves the callback free of locks and allocation"
	swift build
	@echo "== Release build with tests"
	swift build -c release --build-tests
	@echo "== Tests without a server"
	swift test -c release --skip-build --skip LiveTests --skip DocsTests
	@echo "== Tests in a live JACK graph"
	swift test -c release --skip-build --filter LiveTests
	@echo "== The README's tables and commands"
	swift test -c release --skip-build --filter DocsTests
	@$(MAKE) --no-print-directory sanitize
	@$(MAKE) --no-print-directory sanitize-live

## The engine and its queues under three sanitizers; each stops at its first report.
sanitize: export PINNA_ONLY_REALTIME = 1
sanitize: export PINNA_RACES = 10000
sanitize:
	@echo "== RealtimeSanitizer"
	swift test --disable-xctest -c release $(SANITIZE_REALTIME)
	@echo "== ThreadSanitizer"
	TSAN_OPTIONS=halt_on_error=1 swift test --disable-xctest -c release $(SANITIZE_THREAD)
	@echo "== AddressSanitizer"
	ASAN_OPTIONS=halt_on_error=1 swift test --disable-xctest -c release $(SANITIZE_ADDRESS)

## The whole processor in a live graph under RealtimeSanitizer: changes every 20 ms, a new period every second.
sanitize-live:
	@echo "== The processor in a live graph under RealtimeSanitizer"
	swift build -c release --build-tests
	swift build -c release --product pinna $(SANITIZE_REALTIME_PRODUCT)
	PINNA_BINARY=$(CURDIR)/.build/rtsan-pinna/release/pinna \
	  swift test -c release --skip-build --filter SoakTests

## Long runs: the same for a minute each.
soak: export PINNA_SOAK_SECONDS = 60
soak: install-packages sanitize-live

## The table of figures over all presets: must, aim, reached. Fails where one that must be reached is missed.
figures: install-packages
	@echo "== Figures of every preset on the full mesh, into .build/figures.md"
	swift build -c release --product figures
	swift build -c release --product pinna
	@.build/release/figures > .build/figures.md; status=$$?; cat .build/figures.md; \
	  echo "== The oracle's judgement of exported filters"; \
	  sh .ci/evaluate-exports "$(ORACLE)" || status=1; exit $$status

build: install-packages
	swift build -c release --product pinna

install-packages:
	@sh .ci/install-packages

lint:
	@echo "== Format"
	swift format lint --recursive --strict Package.swift Sources Tests
	@echo "== Escapes from the realtime checks stand in one file"
	@sh .ci/check-escapes

format:
	swift format --in-place --recursive Package.swift Sources Tests

clean:
	rm -rf .build
