# Everything from a fresh machine: `make demo` and `make test`. `make help` lists the rest.

SWIFT ?= swift
VENV := .build/venv
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

LIBRARIES := libglib2.0-dev libsoup-3.0-dev libnice-dev libssl-dev libsrtp2-dev libusrsctp-dev \
	libopus-dev libasound2-dev libwebrtc-audio-processing-dev libsndfile1-dev libspeexdsp-dev \
	libyaml-dev libespeak-ng-dev espeak-ng-data glib-networking pkg-config ca-certificates
TEST_TOOLS := coturn openssl python3 python3-pip python3-venv pulseaudio pulseaudio-utils libasound2-plugins

TEST_TARGETS := LoopCoreTests WebIOTests LiveKitProtocolTests RTCTransportTests AudioPipelineTests AgentCoreTests \
	AgentSandboxTests agentctlTests

PREFIX ?= /usr/local
INPUT ?= config/demo/hello.wav
OUTPUT ?= .build/reply.wav

.PHONY: help deps test-deps build demo test check-build unit interop tsan docs bench install clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

deps: ## install the system packages the build needs (Debian, asks sudo when not root)
	@$(call install,$(LIBRARIES))

test-deps: deps
	@$(call install,$(TEST_TOOLS))

build: deps ## build everything (debug)
	$(SWIFT) build

demo: build ## speak a WAV to the embedded sandbox's agent and keep the answer
	$(SWIFT) run --skip-build agentctl talk --input $(INPUT) --output $(OUTPUT)
	@echo "The agent's answer is in $(OUTPUT)."

test: test-deps check-build unit interop tsan ## everything CI runs

check-build: # builds all of it; a warning fails
	@Tests/check-build "$(SWIFT)"

# One target after the other: tests in real time must not starve each other of CPU.
unit: # unit and end-to-end tests, over real sockets on loopback
	@set -e; for target in $(TEST_TARGETS); do $(SWIFT) test --skip-build --filter "^$$target\\."; done

interop: $(VENV)/ready # the official Python SDK and protocol descriptors against this tree
	@set -e; for check in Tests/Interop/check_*.py; do echo "== $$check"; $(VENV)/bin/python $$check; done

$(VENV)/ready: Tests/Interop/requirements.txt
	python3 -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r Tests/Interop/requirements.txt
	touch $@

tsan: # the same tests under the thread sanitizer
	@Tests/thread-sanitizer "$(SWIFT)"

docs: build ## write the parts of the documentation that are made from the code
	UPDATE_DOCS=1 $(SWIFT) test --filter theDocumented

bench: deps ## measure, and print targets beside what was reached
	$(SWIFT) build -c release
	$(SWIFT) run -c release --skip-build Benchmarks

install: deps ## build for release and install below PREFIX (/usr/local)
	$(SWIFT) build -c release --product agentctl
	$(SUDO) install -Dm755 "$$($(SWIFT) build -c release --show-bin-path)/agentctl" $(DESTDIR)$(PREFIX)/bin/agentctl

clean: ## remove what was built
	rm -rf .build

# $(call install,packages): installs the ones that are missing; silent when there are none.
define install
missing=$$(for p in $(1); do dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; done); \
if [ -n "$$missing" ]; then \
	command -v apt-get >/dev/null || { echo "These Debian packages (or their like) are needed: $$missing" >&2; exit 1; }; \
	echo "Installing:" $$missing; \
	$(SUDO) apt-get update -qq && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null; \
fi
endef
