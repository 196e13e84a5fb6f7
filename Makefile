# Shortcuts to build and test the project: `make demo`, `make check`. They call
# CMake, Ninja and the scripts in scripts/.

BUILD ?= build
BUILD_TYPE ?= Release
# Set to OFF for a compiler that has not been tried: its warnings are not errors.
WERROR ?= ON

# The default compiler is the Clang of the linked LLVM. CC and CXX override it.
ifeq ($(origin CXX),default)
  ifneq ($(wildcard /usr/bin/clang++-22),)
    export CC := clang-22
    export CXX := clang++-22
  endif
endif

override CMAKE_FLAGS += -G Ninja -DCMAKE_BUILD_TYPE=$(BUILD_TYPE) -DTILE_WERROR=$(WERROR) -DTILE_TESTS=ON

.PHONY: demo check build wheel configure setup format docs update-docs update-grammar clean help

help:
	@echo "make demo         compile examples/forward.mlir for three chips, print registers and memory, and run it on the CPU"
	@echo "make check        build everything and run all tests; the last line counts them"
	@echo "make build        build the tools in $(BUILD)/bin"
	@echo "make wheel        write the Python package with the compiler inside to dist"
	@echo "make docs         build the documentation site in $(BUILD)/docs/site"
	@echo "make update-docs  regenerate the blocks of documents that quote tools or sources"
	@echo "make update-grammar  regenerate the grammars of editors from TableGen"
	@echo "make format       format C and C++, and repair faults in Python"
	@echo "make clean        remove $(BUILD)"

demo: build
	@python3 scripts/demo.py --build=$(BUILD)

check: configure
	@python3 scripts/check.py --build=$(BUILD)

build: configure
	@ninja -C $(BUILD) $(NINJAFLAGS)

wheel: configure
	@scripts/wheel.py --build=$(BUILD)

docs: configure
	@ninja -C $(BUILD) tile-docs
	@scripts/site.py --build=$(BUILD)

update-docs: build
	@scripts/update-docs.py --tools=$(BUILD)/bin

update-grammar: setup
	@scripts/update-grammar.py

# The recursive make evaluates the choice of the compiler again, because setup may
# have just installed Clang.
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
	@scripts/format.py --build=$(BUILD) --fix

clean:
	rm -rf $(BUILD)
