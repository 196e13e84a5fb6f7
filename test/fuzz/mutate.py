#!/usr/bin/env python3
"""Feeds the tools inputs that are almost right.

Takes the .mlir inputs of the repository, damages them in a seeded random way
and runs each one through the verifier, a pass, a pipeline or the compiler. A
run fails if the tool ends by a signal, takes longer than the time limit, exits
non-zero without a diagnostic, or prints one without a location. Each input depends only on the seed and its
number, so `--only=N` reproduces one.
"""

import argparse
import concurrent.futures
import glob
import json
import os
import random
import re
import resource
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TIME_LIMIT = 120  # seconds of wall time, so that a busy machine is no failure
# Crashes of MLIR 22 itself that input alone reaches: `array<index: 1>`, and an
# nvgpu.ldmatrix of index elements.
KNOWN_CRASHES = ["parseDenseArrayAttr", "LdMatrixOp::verify"]
MEMORY_LIMIT = 8 << 30  # bytes of address space
CHIPS = {
    "nvvm": ["sm_80", "sm_89", "sm_90a", "sm_120a"],
    "rocdl": ["gfx1100", "gfx942", "gfx90a"],
}
# The `x` of a shape stands alone, so that extents are numbers.
TOKEN = re.compile(r"x(?=[\d?]|(?:f|bf|i)\d|index)|[%@#!^]?[A-Za-z_][\w.$-]*"
                   r"|[%#^]\d+|-?\d+(?:\.\d+)?(?:e-?\d+)?|->|\S")
EXTREMES = ["0", "-1", "1", "3", "7", "16", "96", "1024", "65536", "2147483648",
            "9223372036854775807", "-9223372036854775808", "99999999999999999999",
            "1e30", "true", "f16", "f64", "i1", "i8", "index", "none"]


class Corpus:
    """The pieces of the repository's inputs, and the words they are made of."""

    def __init__(self, paths):
        self.pieces = []
        # Numbers of the pieces of whole programs, of valid tests, of others.
        self.groups = [[], [], []]
        words = set()
        for path in sorted(paths):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            for piece in re.split(r"^// -----.*$", text, flags=re.M):
                # Damage to comments would test nothing.
                lines = [line for line in piece.splitlines()
                         if line.strip() and not line.lstrip().startswith("//")]
                if lines:
                    group = (0 if "examples" in path.split(os.sep) else
                             1 if "invalid" not in path else 2)
                    self.groups[group].append(len(self.pieces))
                    self.pieces.append("\n".join(lines) + "\n")
                    words.update(TOKEN.findall(self.pieces[-1]))
        self.words = sorted(words)
        self.kinds = {}
        for word in self.words + EXTREMES:
            self.kinds.setdefault(kind_of(word), []).append(word)

    def piece(self, rng):
        """Mostly from inputs that are valid, so that passes are reached."""
        group = rng.choices(self.groups,
                            [weight if group else 0 for weight, group in
                             zip([2, 2, 1], self.groups)])[0]
        return self.pieces[rng.choice(group)]

    def like(self, rng, word):
        """Another word that often fits where `word` stands."""
        if rng.random() < 0.1:
            return rng.choice(self.words)
        # Earlier damage may have made a word of a kind that nobody else has.
        return rng.choice(self.kinds.get(kind_of(word), self.words))


def kind_of(word):
    if re.match(r"-?\d+$", word):
        return "integer"
    if re.match(r"-?\d", word):
        return "float"
    if re.match(r"(f|bf|i)\d+$|index$", word):
        return "element type"
    if re.match(r"[%@#!^]", word):
        return word[0]
    if "." in word:
        return word.split(".")[0]  # the operations of one dialect
    return "word" if word[0].isalpha() else "punctuation"


def pick_token(rng, text):
    """Punctuation is picked rarely: without it nothing parses."""
    tokens = [token for token in TOKEN.finditer(text)
              if kind_of(token.group()) != "punctuation" or rng.random() < 0.02]
    return rng.choice(tokens) if tokens else None


def replace_token(rng, text, corpus):
    token = pick_token(rng, text)
    if not token:
        return text
    if token.group().startswith("%"):
        new = rng.choice(re.findall(r"%\w+", text))
    else:
        new = corpus.like(rng, token.group())
    return text[:token.start()] + new + text[token.end():]


def replace_everywhere(rng, text, corpus):
    """Another number, type or name in all places: often still valid."""
    token = pick_token(rng, text)
    if not token:
        return text
    old = token.group()
    new = corpus.like(rng, old)
    return TOKEN.sub(
        lambda match: new if match.group() == old else match.group(), text)


def delete_attribute(rng, text, corpus):
    """Drops `name = value`, a `<...>` or a `{...}`."""
    found = list(re.finditer(r"\b\w+ ?= ?[^,>}\s]+,? ?|<[^<>]*>|\{[^{}\n]*\}", text))
    if not found:
        return text
    match = rng.choice(found)
    return text[:match.start()] + text[match.end():]


def flip_byte(rng, text, corpus):
    at = rng.randrange(len(text))
    return text[:at] + chr(ord(text[at]) ^ (1 << rng.randrange(8))) + text[at + 1:]


def delete_bytes(rng, text, corpus):
    at = rng.randrange(len(text))
    return text[:at] + text[at + rng.randint(1, 16):]


def duplicate_bytes(rng, text, corpus):
    at = rng.randrange(len(text))
    end = at + rng.randint(1, 40)
    return text[:end] + text[at:end] + text[end:]


def delete_line(rng, text, corpus):
    lines = text.splitlines(True)
    del lines[rng.randrange(len(lines))]
    return "".join(lines)


def duplicate_line(rng, text, corpus):
    lines = text.splitlines(True)
    lines.insert(rng.randrange(len(lines)), rng.choice(lines))
    return "".join(lines)


def swap_lines(rng, text, corpus):
    lines = text.splitlines(True)
    i = rng.randrange(len(lines))
    j = min(max(i + rng.choice([-3, -2, -1, 1, 2, 3]), 0), len(lines) - 1)
    lines[i], lines[j] = lines[j], lines[i]
    return "".join(lines)


def truncate(rng, text, corpus):
    return text[:rng.randrange(len(text))]


# Those that often leave the text parseable get past the parser, so they come
# more than once.
MUTATIONS = [replace_token] * 7 + [replace_everywhere] * 6 + [delete_attribute] * 4 + [
    delete_line, duplicate_line, swap_lines, swap_lines, flip_byte,
    delete_bytes, duplicate_bytes, truncate]


def mutate(rng, corpus):
    text = corpus.piece(rng)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        if text.strip():
            text = rng.choice(MUTATIONS)(rng, text, corpus)
    return text


def passes_of(tool):
    """The names of the project's passes that `tool` lists (options of passes
    are indented further)."""
    done = subprocess.run([tool, "--help"], stdout=subprocess.PIPE, text=True)
    names = re.findall(r"^ {6}--(tile-[\w-]+)", done.stdout, re.M)
    return sorted(set(names) - {"tile-to-nvvm", "tile-to-rocdl"})


def commands(tool, translate, passes):
    """What is run, in turn, on the inputs."""
    tool = [tool, "--mlir-disable-threading"]
    full = [tool + ["--tile-to-%s=chip=%s" % (family, chip)]
            for family, chips in CHIPS.items() for chip in chips]
    single = [tool + ["--" + name] for name in passes]
    compile = []
    if translate:
        compile = ([[translate, "--tile-to-ptx", "--chip=" + chip]
                    for chip in CHIPS["nvvm"]] +
                   [[translate, "--tile-to-hsaco", "--chip=" + chip]
                    for chip in CHIPS["rocdl"]])
    groups = [[tool], full, single, compile]
    return [group for group in groups if group]


def complaint(command):
    """Runs the tool; returns (accepted, what is wrong or None)."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              timeout=TIME_LIMIT)
    except subprocess.TimeoutExpired:
        return False, "still running after %d s" % TIME_LIMIT
    message = done.stderr.decode(errors="replace")
    if done.returncode < 0 or done.returncode >= 128:
        if any(name in message for name in KNOWN_CRASHES):
            return False, None
        return False, "ended by signal %d" % (-done.returncode % 128)
    if "LLVM ERROR" in message:
        return False, "fatal error of LLVM"
    if "<unknown>:0" in message:
        return False, "diagnostic without a location"
    if done.returncode != 0 and "error:" not in message:
        return False, "exit status %d without a diagnostic" % done.returncode
    return done.returncode == 0, None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", required=True, help="tile-opt, or a like tool")
    parser.add_argument("--translate", help="tile-translate")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="run this input only")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--failures", default="fuzz-failures",
                        help="folder that keeps the failing inputs")
    parser.add_argument("--report", help="JSON file for the counts")
    parser.add_argument("inputs", nargs="*",
                        help=".mlir files (default: those of the repository)")
    options = parser.parse_args()

    paths = options.inputs or [
        path for folder in ("test", "examples")
        for path in glob.glob(os.path.join(ROOT, folder, "**", "*.mlir"),
                              recursive=True)]
    corpus = Corpus(paths)
    if not corpus.pieces:
        sys.exit("no inputs")
    groups = commands(options.tool, options.translate, passes_of(options.tool))

    # Inherited by the tools: an input must not take the machine down.
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.makedirs(options.failures, exist_ok=True)

    def one(number):
        rng = random.Random("%d:%d" % (options.seed, number))
        text = mutate(rng, corpus)
        command = rng.choice(groups[number % len(groups)])
        path = os.path.join(options.failures, "%d-%d.mlir" % (options.seed, number))
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        command = command + [path]
        accepted, wrong = complaint(command)
        if wrong:
            print("input %d: %s\n  %s" % (number, wrong, " ".join(command)),
                  flush=True)
        else:
            os.remove(path)
        return accepted, wrong is not None

    numbers = range(options.count) if options.only is None else [options.only]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(one, numbers))
    accepted = sum(result[0] for result in results)
    failed = sum(result[1] for result in results)
    print("%d inputs from %d pieces: %d accepted, %d rejected, %d failed" % (
        len(results), len(corpus.pieces), accepted,
        len(results) - accepted - failed, failed))
    if options.report:
        with open(options.report, "w") as file:
            json.dump({"passed": len(results) - failed, "failed": failed}, file)
    return int(failed != 0)


if __name__ == "__main__":
    sys.exit(main())
