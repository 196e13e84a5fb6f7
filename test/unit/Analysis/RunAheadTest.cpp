//===- RunAheadTest.cpp - Answers of RunAhead on small kernels ------------===//
#include "tile/Analysis/RunAhead.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "tile/InitAll.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tile;

namespace {

const char kTypes[] = R"mlir(
#row = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
#one = #tile.blocked<thread = [1], lane = [32], warp = [4], order = [0]>
!t = tensor<64x64xf16, #row>
!s = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!g = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!i = !tile.buffer<?xi32, #tile.strided<[1], align = 4>, global>
)mlir";

class RunAheadTest : public testing::Test {
protected:
  RunAheadTest() : context(registry(), MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
  }
  static DialectRegistry registry() {
    DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }

  /// Parses a kernel @k with the arguments %g, %o, %table and %n.
  KernelOp parse(StringRef body) {
    std::string text = kTypes;
    text += "tile.kernel @k(%g: !g, %o: !g, %table: !i, %n: index) attributes "
            "{num_warps = 4 : i32} {\n"
            "%c0 = arith.constant 0 : index\n"
            "%c1 = arith.constant 1 : index\n"
            "tile.grid %c1, %c1, %c1\n";
    text += body;
    text += "}\n";
    module = parseSourceString<ModuleOp>(text, &context);
    return module ? *module->getOps<KernelOp>().begin() : KernelOp();
  }
  template <typename OpT> OpT find(unsigned number = 0) {
    SmallVector<OpT> all;
    module->walk<WalkOrder::PreOrder>([&](OpT op) { all.push_back(op); });
    return number < all.size() ? all[number] : OpT();
  }
  /// The refusal of a store that is late, by their numbers in the kernel.
  Refusal checkLateStore(unsigned store, unsigned argument) {
    auto kernel = find<KernelOp>();
    return RunAhead(kernel).checkLateStore(find<StoreOp>(store),
                                           kernel.getArgument(argument));
  }
  /// The refusal of the first copy in the scope of the first loop.
  Refusal checkInLoop(StringRef loopBody) {
    KernelOp kernel =
        parse(("scf.for %i = %c0 to %n step %c1 {\n" + loopBody + "}\n").str());
    BufferCopy copy;
    return RunAhead(kernel).checkCopy(find<CopyOp>(), find<scf::ForOp>(), copy);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(RunAheadTest, CopyAndItsSlice) {
  KernelOp kernel = parse(R"mlir(
    scf.for %i = %c0 to %n step %c1 {
      %twice = arith.addi %i, %i : index
      %unused = arith.muli %i, %i : index
      %page = tile.load_scalar %table[%twice] : !i -> i32
      %row = arith.index_cast %page : i32 to index
      %s = tile.alloc : !s
      tile.copy %g[%row, %c0], %s : !g, !s
      %x = tile.load %s[%c0, %c0] : !s -> !t
      tile.store %x, %o[%i, %c0] : !t, !g
      %y = tile.load %s[%c0, %c0] : !s -> !t
      tile.store %y, %o[%i, %c0] : !t, !g
    })mlir");
  ASSERT_TRUE(kernel);
  RunAhead runAhead(kernel);
  for (Operation *scope :
       {find<scf::ForOp>().getOperation(), kernel.getOperation()}) {
    BufferCopy copy;
    EXPECT_EQ(runAhead.checkCopy(find<CopyOp>(), scope, copy), std::nullopt);
    EXPECT_EQ(copy.buffer, find<AllocOp>());
    EXPECT_EQ(copy.first, find<LoadOp>(0));
    EXPECT_EQ(copy.last, find<LoadOp>(1));
    EXPECT_TRUE(copy.slice.contains(find<LoadScalarOp>()));
    EXPECT_TRUE(copy.slice.contains(find<arith::AddIOp>()));
    EXPECT_FALSE(copy.slice.contains(find<arith::MulIOp>()));
  }
}

TEST_F(RunAheadTest, RefusalsOfCopies) {
  EXPECT_EQ(checkInLoop(R"mlir(
      %s = tile.alloc : !s
      tile.copy %g[%i, %c0], %s : !g, !s)mlir"),
            "nobody reads its buffer");
  EXPECT_EQ(checkInLoop(R"mlir(
      %s = tile.alloc : !s
      tile.copy %g[%i, %c0], %s : !g, !s
      %x = tile.load %s[%c0, %c0] : !s -> !t
      tile.store %x, %s[%c0, %c0] : !t, !s)mlir"),
            "its buffer is written elsewhere too");
  EXPECT_EQ(checkInLoop(R"mlir(
      %s = tile.alloc : !s
      %x = tile.load %s[%c0, %c0] : !s -> !t
      tile.copy %g[%i, %c0], %s : !g, !s)mlir"),
            "its buffer is read elsewhere than after it");
  EXPECT_EQ(checkInLoop(R"mlir(
      %s = tile.alloc {offset = 0 : i64} : !s
      tile.copy %g[%i, %c0], %s : !g, !s)mlir"),
            "the offset of its buffer is pinned");
  EXPECT_EQ(checkInLoop(R"mlir(
      %s = tile.alloc : !s
      tile.copy async %g[%i, %c0], %s : !g, !s)mlir"),
            "it is asynchronous already");
  EXPECT_EQ(checkInLoop(R"mlir(
      %s = tile.alloc : !s
      tile.copy %g[%i, %c0], %s : !g, !s
      %x = tile.load %s[%c0, %c0] : !s -> !t
      tile.store %x, %g[%i, %c0] : !t, !g)mlir"),
            "the loop writes its source");
  EXPECT_EQ(checkInLoop(R"mlir(
      %page = tile.load_scalar %table[%i] : !i -> i32
      %row = arith.index_cast %page : i32 to index
      %s = tile.alloc : !s
      tile.copy %g[%row, %c0], %s : !g, !s
      %x = tile.load %s[%c0, %c0] : !s -> !t
      %ones = arith.constant dense<1> : tensor<128xi32, #one>
      tile.store %ones, %table[%i] : tensor<128xi32, #one>, !i)mlir"),
            "its place depends on 'tile.load_scalar', which cannot run ahead");
}

/// A role runs the loops again, so their bounds must be known, too.
TEST_F(RunAheadTest, Loops) {
  const char body[] = R"mlir(
    scf.for %i = %c0 to %n step %c1 iter_args(%end = %n) -> index {
      scf.for %j = %c0 to %end step %c1 {
        %s = tile.alloc : !s
        tile.copy %g[%j, %c0], %s : !g, !s
        %x = tile.load %s[%c0, %c0] : !s -> !t
      }
      %next = arith.addi %end, %c1 : index
      scf.yield %next : index
    })mlir";
  KernelOp kernel = parse(body);
  ASSERT_TRUE(kernel);
  RunAhead runAhead(kernel);
  BufferCopy copy, inRole;
  EXPECT_EQ(runAhead.checkCopy(find<CopyOp>(), find<scf::ForOp>(1), copy),
            std::nullopt);
  // A role that runs all iterations carries the bound, too.
  EXPECT_EQ(runAhead.checkCopy(find<CopyOp>(), kernel, inRole), std::nullopt);
  EXPECT_EQ(runAhead.checkCopy(find<CopyOp>(), find<scf::ForOp>(0), copy),
            "a loop around it: its place depends on a value that a loop "
            "carries");

  kernel = parse(R"mlir(
    %yes = arith.cmpi slt, %n, %c1 : index
    scf.if %yes {
      %s = tile.alloc : !s
      tile.copy %g[%n, %c0], %s : !g, !s
      %x = tile.load %s[%c0, %c0] : !s -> !t
    })mlir");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(RunAhead(kernel).checkCopy(find<CopyOp>(), kernel, copy),
            "it is inside 'scf.if'");
}

/// Scalars of the block come from arguments that nobody writes, and from before
/// the wait for preceding kernels.
TEST_F(RunAheadTest, BlockScalars) {
  KernelOp kernel = parse(R"mlir(
    %early = tile.load_scalar %table[%c0] : !i -> i32
    %twice = arith.addi %early, %early : i32
    tile.wait_prerequisites
    %late = tile.load_scalar %table[%c0] : !i -> i32
    %both = arith.addi %late, %early : i32
    %row = arith.addi %n, %c1 : index
    %tile = arith.constant dense<0.0> : !t
    tile.store %tile, %o[%row, %c0] : !t, !g)mlir");
  ASSERT_TRUE(kernel);
  llvm::DenseSet<Operation *> scalars = RunAhead(kernel).findBlockScalars();
  EXPECT_TRUE(scalars.contains(find<LoadScalarOp>(0)));
  EXPECT_TRUE(scalars.contains(find<arith::AddIOp>(0)));
  EXPECT_FALSE(scalars.contains(find<LoadScalarOp>(1)));
  EXPECT_FALSE(scalars.contains(find<arith::AddIOp>(1)));
  EXPECT_TRUE(scalars.contains(find<arith::AddIOp>(2)));
  EXPECT_TRUE(scalars.contains(find<GridOp>()));
  EXPECT_FALSE(scalars.contains(find<StoreOp>()));
  EXPECT_FALSE(scalars.contains(find<arith::ConstantOp>(2)));
}

/// A store may end late if no read of its argument follows.
TEST_F(RunAheadTest, LateStores) {
  ASSERT_TRUE(parse(R"mlir(
    %x = tile.load %o[%c0, %c0] : !g -> !t
    tile.store %x, %o[%c0, %c0] : !t, !g
    tile.store %x, %g[%c0, %c0] : !t, !g
    %y = tile.load %g[%c0, %c0] : !g -> !t)mlir"));
  EXPECT_EQ(checkLateStore(0, 1), std::nullopt);
  EXPECT_EQ(checkLateStore(1, 0),
            "the kernel reads its argument afterwards, or in the same loop");
}

/// TMA stores to one element are in no order.
TEST_F(RunAheadTest, LateStoresToOneElement) {
  ASSERT_TRUE(parse(R"mlir(
    %zero = arith.constant dense<0.0> : !t
    tile.store %zero, %o[%c0, %c0] : !t, !g
    scf.for %i = %c0 to %n step %c1 {
      tile.store %zero, %g[%n, %c0] : !t, !g
    })mlir"));
  EXPECT_EQ(checkLateStore(0, 1), std::nullopt);
  EXPECT_EQ(checkLateStore(1, 0),
            "the iterations of a loop write the same elements");
  ASSERT_TRUE(parse(R"mlir(
    %zero = arith.constant dense<0.0> : !t
    scf.for %i = %c0 to %n step %c1 {
      %j = arith.addi %i, %n : index
      tile.store %zero, %g[%j, %c0] : !t, !g
      tile.store %zero, %o[%j, %c0] : !t, !g
      tile.store %zero, %o[%i, %c0] : !t, !g
    })mlir"));
  EXPECT_EQ(checkLateStore(0, 0), std::nullopt);
  EXPECT_EQ(checkLateStore(1, 1),
            "another write beside it may write the same elements");
  // Tiles of 64 columns that begin 64 columns apart have no common element.
  for (const char *column : {"32", "64"}) {
    std::string other = "tile.store %zero, %o[%n, %c] : !t, !g\n";
    ASSERT_TRUE(parse("%zero = arith.constant dense<0.0> : !t\n"
                      "%c = arith.constant " +
                      std::string(column) +
                      " : index\n"
                      "tile.store %zero, %o[%n, %c0] : !t, !g\n" +
                      other));
    for (unsigned store : {0, 1})
      EXPECT_EQ(checkLateStore(store, 1).has_value(), column[0] == '3');
  }
}

/// Writes that may be exchanged with other operations of a loop.
TEST_F(RunAheadTest, Writes) {
  KernelOp kernel = parse(R"mlir(
    %zero = arith.constant dense<0.0> : !t
    %ones = arith.constant dense<1> : tensor<128xi32, #one>
    scf.for %i = %c0 to %n step %c1 {
      %x = tile.load %g[%i, %c0] : !g -> !t
      tile.store %x, %o[%i, %c0] : !t, !g
      tile.store %x, %g[%i, %c0] : !t, !g
      tile.store %x, %o[%c0, %c0] : !t, !g
      tile.atomic_rmw addf %x, %o[%i, %c0] : !t, !g
      tile.atomic_rmw addf %x, %o[%c0, %c0] : !t, !g
      %old = tile.atomic_rmw addi %ones, %table[%c0] : tensor<128xi32, #one>, !i -> tensor<128xi32, #one>
      tile.atomic_rmw maxs %ones, %table[%c0] order(release) : tensor<128xi32, #one>, !i
      tile.atomic_rmw mins %ones, %table[%c0] : tensor<128xi32, #one>, !i
    })mlir");
  ASSERT_TRUE(kernel);
  RunAhead runAhead(kernel);
  auto loop = find<scf::ForOp>();
  auto store = [&](unsigned i) { return find<StoreOp>(i); };
  auto atomic = [&](unsigned i) { return find<AtomicRMWOp>(i); };
  EXPECT_EQ(runAhead.checkWrite(store(0), loop), std::nullopt);
  EXPECT_EQ(runAhead.checkWrite(store(1), loop),
            "the loop reads what 'tile.store' writes");
  EXPECT_EQ(runAhead.checkWrite(atomic(0), loop), std::nullopt);
  EXPECT_EQ(runAhead.checkWrite(atomic(2), loop),
            "'tile.atomic_rmw' returns a value or orders other accesses");
  EXPECT_EQ(runAhead.checkWrite(atomic(3), loop),
            "'tile.atomic_rmw' returns a value or orders other accesses");
  EXPECT_TRUE(mustKeepOrder(store(0), store(2)));
  EXPECT_FALSE(mustKeepOrder(store(0), store(1)));
  EXPECT_TRUE(mustKeepOrder(store(0), atomic(0)));
  EXPECT_FALSE(mustKeepOrder(atomic(0), atomic(1)));
  EXPECT_TRUE(mustKeepOrder(atomic(3), atomic(4)));
}

TEST_F(RunAheadTest, LateLoads) {
  KernelOp kernel = parse(R"mlir(
    %s = tile.alloc : !s
    %r = tile.alloc : !s
    %zero = arith.constant dense<0.0> : !t
    tile.store %zero, %s[%c0, %c0] : !t, !s
    scf.for %i = %c0 to %n step %c1 {
      %x = tile.load %s[%c0, %c0] : !s -> !t
      %y = tile.load %r[%c0, %c0] : !s -> !t
      tile.store %x, %r[%c0, %c0] : !t, !s
    })mlir");
  ASSERT_TRUE(kernel);
  RunAhead runAhead(kernel);
  EXPECT_EQ(runAhead.checkLateLoad(find<LoadOp>(0)), std::nullopt);
  EXPECT_EQ(runAhead.checkLateLoad(find<LoadOp>(1)),
            "its buffer is written in the same block");
}

} // namespace
