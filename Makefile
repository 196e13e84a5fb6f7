# The short way to build, show and test the project: `make demo`, `make check`.
# Everything here only calls CMake, Ninja and the scripts in scripts/.

BUILD ?= build
BUILD_TYPE ?= Release
# Set to OFF for compilers whose warnings the project has not been tried with.
WERROR ?= ON

# The compiler of the LLVM that is linked, unless CC and CXX say otherwise.
ifeq ($(origin CXX),default)
  ifneq ($(wildcard /usr/bin/clang++-22),)
    export CC := clang-22
    export CXX := clang++-22
  endif
endif

override CMAKE_FLAGS += -G Ninja -DCMAKE_BUILD_TYPE=$(BUILD_TYPE) -DTILE_WERROR=$(WERROR) -DTILE_TESTS=ON

.PHONY: demo check build configure setup format docs update-docs clean help

help:
	@echo "make demo         compile examples/forward.mlir for three chips, report registers and memory, and run it on the CPU"
	@echo "make check        build everything and run all tests; the last line counts them"
	@echo "make build        the tools, in $(BUILD)/bin"
	@echo "make docs         the reference of the dialect and the passes, in $(BUILD)/docs"
	@echo "make update-docs  rewrite what the documents quote from tools and sources"
	@echo "make format       run clang-format on the C++ sources"
	@echo "make clean        remove $(BUILD)"

demo: build
	@python3 scripts/demo.py --build=$(BUILD)

check: configure
	@python3 scripts/check.py --build=$(BUILD)

build: configure
	@ninja -C $(BUILD) $(NINJAFLAGS)

docs: configure
	@ninja -C $(BUILD) tile-docs

update-docs: build
	@scripts/update-docs.py --tools=$(BUILD)/bin *.md docs/*.md

# A second make is needed for the compiler that setup has just installed to be
# found; recursion does that without one.
configure: setup
	@$(MAKE) --no-print-directory $(BUILD)/build.ninja

$(BUILD)/build.ninja:
	@mkdir -p $(BUILD); launcher=$$(command -v ccache || true); \
	cmake -S . -B $(BUILD) $(CMAKE_FLAGS) \
	  $${launcher:+-DCMAKE_C_COMPILER_LAUNCHER=$$launcher -DCMAKE_CXX_COMPILER_LAUNCHER=$$launcher} \
	  > $(BUILD)/configure.log 2>&1 || { cat $(BUILD)/configure.log; rm -f $@; exit 1; }

setup:
	@scripts/setup.sh

format:
	@git ls-files '*.h' '*.cpp' '*.c' | xargs -r clang-format-22 -i

clean:
	rm -rf $(BUILD)
