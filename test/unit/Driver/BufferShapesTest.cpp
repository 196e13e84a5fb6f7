//===- BufferShapesTest.cpp - The smallest shapes of buffers --------------===//

#include "Driver/BufferShapes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace llvm;

namespace {

constexpr StringLiteral kX =
    R"({"kind": "buffer", "name": "x", "shape": [null, null],
        "strides": [null, 1], "stride_divisibility": [1, 1]})";
constexpr StringLiteral kN = R"({"kind": "scalar", "name": "n"})";
/// A dense tensor whose stride of dimension 0 must be a multiple of 8.
constexpr StringLiteral kScratch =
    R"({"kind": "buffer", "name": "s", "shape": [null, null, 4],
        "strides": [null, 4, 1], "stride_divisibility": [8, 1, 1]})";

std::string require(int argument, int dim, StringRef relation,
                    StringRef value) {
  return "{\"argument\": " + std::to_string(argument) +
         ", \"dim\": " + std::to_string(dim) + ", \"relation\": \"" +
         relation.str() + "\", \"value\": " + value.str() +
         ", \"reason\": \"as the test says\"}";
}

std::string kernel(std::vector<std::string> params,
                   std::vector<std::string> requirements) {
  return "{\"params\": [" + join(params, ",") + "], \"requires\": [" +
         join(requirements, ",") + "]}";
}

/// Returns the entries, one a line.
std::string describe(std::vector<std::string> kernels) {
  Expected<json::Value> parsed = json::parse("[" + join(kernels, ",") + "]");
  if (!parsed)
    return toString(parsed.takeError());
  std::string text;
  for (const json::Value &shape : tile::describeShapes(*parsed->getAsArray()))
    raw_string_ostream(text) << *shape.getAsObject()->getString("name") << ": "
                             << *shape.getAsObject()->get("extents") << '\n';
  return text;
}

std::string describeScratch(std::vector<std::string> requirements,
                            StringRef scratch = kScratch) {
  return describe({kernel({kX.str(), scratch.str(), kN.str()}, requirements)});
}

TEST(BufferShapes, EachRelation) {
  EXPECT_EQ(describeScratch({require(1, 0, "equal",
                                     R"(["add", ["dim", 0, 1], ["arg", 2]])"),
                             require(1, 1, "at_least", R"(["dim", 0, 0])"),
                             require(1, 1, "multiple_of", "16"),
                             require(1, 1, "multiple_of", "24"),
                             require(1, 1, "at_most", "1073741824")}),
            R"(s: [["add",["dim","x",1],["arg","n"]],)"
            R"(["mul",["ceildiv",["dim","x",0],48],48],4])"
            "\n");
}

TEST(BufferShapes, MultipleThatOnlyTheCallerKnows) {
  EXPECT_EQ(describeScratch({require(1, 0, "equal", "2"),
                             require(1, 1, "equal", R"(["dim", 0, 0])"),
                             require(1, 1, "multiple_of", R"(["arg", 2])")}),
            R"(s: [2,["mul",["ceildiv",["dim","x",0],["max",["arg","n"],1]],)"
            R"(["max",["arg","n"],1]],4])"
            "\n");
  // The least common multiple of two is no expression.
  EXPECT_EQ(describeScratch({require(1, 0, "equal", "2"),
                             require(1, 1, "equal", R"(["dim", 0, 0])"),
                             require(1, 1, "multiple_of", R"(["dim", 0, 1])"),
                             require(1, 1, "multiple_of", R"(["arg", 2])")}),
            "");
}

TEST(BufferShapes, ExtentsOfOneBufferDependOnEachOther) {
  EXPECT_EQ(describeScratch(
                {require(1, 0, "at_least", R"(["mul", ["dim", 1, 1], 2])"),
                 require(1, 0, "at_least", "9"),
                 require(1, 1, "equal", R"(["dim", 0, 1])")}),
            R"(s: [["max",["mul",["dim","x",1],2],9],["dim","x",1],4])"
            "\n");
}

TEST(BufferShapes, BuffersFollowThoseThatTheyDependOn) {
  std::string other = R"({"kind": "buffer", "name": "t", "shape": [null],
      "strides": [1], "stride_divisibility": [1]})";
  EXPECT_EQ(
      describe({kernel({kScratch.str(), other, kX.str()},
                       {require(0, 0, "equal", R"(["dim", 1, 0])"),
                        require(0, 1, "equal", R"(["dim", 2, 0])"),
                        require(1, 0, "equal", R"(["dim", 2, 1])")})}),
      "t: [[\"dim\",\"x\",1]]\ns: [[\"dim\",\"t\",0],[\"dim\",\"x\",0],4]\n");
}

TEST(BufferShapes, AllKernelsCount) {
  // The second kernel has the parameters in another order, and repeats a bound.
  EXPECT_EQ(
      describe({kernel({kX.str(), kScratch.str()},
                       {require(1, 0, "equal", "2"),
                        require(1, 1, "at_least", R"(["dim", 0, 1])")}),
                kernel({kScratch.str(), kX.str()},
                       {require(0, 1, "at_least", R"(["dim", 1, 1])"),
                        require(0, 1, "at_least", R"(["dim", 1, 0])")})}),
      R"(s: [2,["mul",["ceildiv",["max",["dim","x",1],["dim","x",0]],2],2],4])"
      "\n");
}

TEST(BufferShapes, PermutedElementsTakeWholeBlocks) {
  std::vector<std::string> requirements = {
      require(1, 0, "equal", "2"),
      require(1, 1, "at_least", R"(["dim", 0, 0])")};
  StringRef permuted = R"({"kind": "buffer", "name": "s",
      "shape": [null, null, 4], "storage": 0, "blocks": [1, 8, 4]})";
  EXPECT_EQ(describeScratch(requirements, permuted),
            "s: [2,[\"mul\",[\"ceildiv\",[\"dim\",\"x\",0],8],8],4]\n");
}

TEST(BufferShapes, StridesHaveTheirDivisors) {
  std::vector<std::string> needs = {
      require(1, 0, "equal", "2"),
      require(1, 1, "at_least", R"(["dim", 0, 0])")};
  // A dense [2, R, 4] buffer has the stride 4 R, a multiple of 8.
  EXPECT_EQ(describeScratch(needs),
            "s: [2,[\"mul\",[\"ceildiv\",[\"dim\",\"x\",0],2],2],4]\n");
  // An extent that must be equal to another cannot grow.
  needs.back() = require(1, 1, "equal", R"(["dim", 0, 0])");
  EXPECT_EQ(describeScratch(needs), "s: [2,[\"dim\",\"x\",0],4]\n");
}

TEST(BufferShapes, ExtentsThatNothingDetermines) {
  EXPECT_EQ(describeScratch({require(1, 0, "equal", "1")}), "");
  EXPECT_EQ(describeScratch(
                {require(1, 0, "equal", "1"), require(1, 1, "at_most", "9")}),
            "");
  EXPECT_EQ(describeScratch({require(1, 0, "equal", R"(["dim", 1, 1])"),
                             require(1, 1, "equal", R"(["dim", 1, 0])")}),
            "");
  // Malformed values of a manifest that is written by hand.
  for (StringRef value : {R"(["dim", 7, 0])", R"(["dim", -1, 0])",
                          R"(["arg", "n"])", R"(["dim", 1, 9])"})
    EXPECT_EQ(describeScratch(
                  {require(1, 0, "equal", "1"), require(1, 1, "equal", value)}),
              "")
        << value.str();
}

TEST(BufferShapes, BuffersThatDependOnEachOther) {
  std::string y = R"({"kind": "buffer", "name": "y", "shape": [null],
      "strides": [1], "stride_divisibility": [1]})";
  std::string z = R"({"kind": "buffer", "name": "z", "shape": [null],
      "strides": [1], "stride_divisibility": [1]})";
  EXPECT_EQ(
      describe({kernel({y, z}, {require(0, 0, "equal", R"(["dim", 1, 0])"),
                                require(1, 0, "equal", R"(["dim", 0, 0])")})}),
      "z: [[\"dim\",\"y\",0]]\n");
}

} // namespace
