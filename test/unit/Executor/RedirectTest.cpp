//===- RedirectTest.cpp - Addresses in shared memory, in every form -------===//
//
// The code that the executor runs must not name variables in shared memory,
// because each block has its own. Optimizations turn addresses into
// instructions, constants, constant expressions and parts of initialisers.
//
//===----------------------------------------------------------------------===//

#include "Executor/Redirect.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"

using namespace tile::cpu;

namespace {

struct Result {
  std::vector<std::string> obstacles;
  /// Whether a variable in shared memory is still used.
  bool namesShared = false;
  unsigned sites = 0;
};

Result redirectBody(llvm::StringRef globals, llvm::StringRef body) {
  std::string text = (globals + R"(
@dynamic = external addrspace(3) global [0 x i8], align 1024
@fixed = internal addrspace(3) global [64 x float] undef, align 16
declare void @llvm.memset.p3.i64(ptr addrspace(3), i8, i64, i1)
define ptx_kernel void @k(ptr addrspace(1) %out, i64 %i, i1 %c) {
entry:
)" + body + "\n}\n")
                         .str();
  llvm::LLVMContext context;
  llvm::SMDiagnostic message;
  std::unique_ptr<llvm::Module> module =
      llvm::parseAssemblyString(text, message, context);
  if (!module) {
    ADD_FAILURE() << message.getMessage().str();
    return {};
  }
  Redirected redirected;
  Result result;
  for (const Obstacle &obstacle :
       redirect(*module, redirected, /*watched=*/true))
    result.obstacles.push_back(obstacle.message);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  for (llvm::GlobalVariable &global : module->globals()) {
    global.removeDeadConstantUsers();
    result.namesShared |= global.getAddressSpace() == 3 && !global.use_empty();
  }
  result.sites = redirected.sites.size();
  return result;
}

void expectRuns(llvm::StringRef body, unsigned sites,
                llvm::StringRef globals = "") {
  SCOPED_TRACE(body.str());
  Result result = redirectBody(globals, body);
  EXPECT_TRUE(result.obstacles.empty()) << result.obstacles.front();
  EXPECT_FALSE(result.namesShared);
  EXPECT_EQ(result.sites, sites);
}

} // namespace

TEST(Redirect, AddressesOfAccesses) {
  for (llvm::StringRef variable : {"@dynamic", "@fixed"}) {
    auto run = [&](const llvm::Twine &address) {
      expectRuns(("  %v = load <4 x float>, ptr addrspace(3) " + address +
                  ", align 16\n"
                  "  store <4 x float> %v, ptr addrspace(1) %out\n  ret void")
                     .str(),
                 2);
    };
    run(variable);
    run("getelementptr (i8, ptr addrspace(3) " + variable + ", i64 16)");
    run("inttoptr (i32 ptrtoint (ptr addrspace(3) " + variable +
        " to i32) to ptr addrspace(3))");
    run("getelementptr (i8, ptr addrspace(3) getelementptr (i8, ptr "
        "addrspace(3) " +
        variable + ", i64 32), i64 ptrtoint (ptr addrspace(3) " + variable +
        " to i64))");
  }
  expectRuns("  %v = load float, ptr addrspacecast (ptr addrspace(3) @dynamic "
             "to ptr)\n"
             "  store float %v, ptr addrspacecast (ptr addrspace(3) @fixed to "
             "ptr)\n  ret void",
             2);
  expectRuns("  %v = atomicrmw fadd ptr addrspace(3) @fixed, float 1.0 "
             "monotonic\n"
             "  %w = cmpxchg ptr addrspace(3) @fixed, i32 0, i32 1 monotonic "
             "monotonic\n  ret void",
             2);
}

TEST(Redirect, AddressesAsOperands) {
  expectRuns("  br i1 %c, label %a, label %b\n"
             "a:\n  br label %b\n"
             "b:\n"
             "  %p = phi ptr addrspace(3) [ @fixed, %entry ], [ getelementptr "
             "(i8, ptr addrspace(3) @dynamic, i64 8), %a ]\n"
             "  %q = select i1 %c, ptr addrspace(3) @dynamic, ptr addrspace(3) "
             "%p\n"
             "  store float 0.0, ptr addrspace(3) %q\n  ret void",
             1);
  // One predecessor twice: both operands must stay the same value.
  expectRuns("  switch i64 %i, label %b [ i64 0, label %a\n i64 1, label %a ]\n"
             "a:\n"
             "  %p = phi i32 [ ptrtoint (ptr addrspace(3) @fixed to i32), "
             "%entry ], [ ptrtoint (ptr addrspace(3) @fixed to i32), %entry ]\n"
             "  store i32 %p, ptr addrspace(1) %out\n  ret void\n"
             "b:\n  ret void",
             1);
  expectRuns("  call void @llvm.memset.p3.i64(ptr addrspace(3) @fixed, i8 0, "
             "i64 64, i1 false)\n  ret void",
             0);
  expectRuns("  store ptr addrspace(3) @fixed, ptr addrspace(1) %out\n"
             "  store { ptr addrspace(3), i32 } { ptr addrspace(3) @dynamic, "
             "i32 1 }, ptr addrspace(1) %out\n  ret void",
             2);
  expectRuns("  %n = icmp eq ptr addrspace(3) @dynamic, @fixed\n"
             "  %z = zext i1 %n to i32\n"
             "  store i32 %z, ptr addrspace(1) %out\n  ret void",
             1);
}

TEST(Redirect, AddressesInInitialisers) {
  llvm::StringRef body =
      "  %p = getelementptr ptr addrspace(3), ptr @table, i64 %i\n"
      "  %q = load ptr addrspace(3), ptr %p\n"
      "  store float 0.0, ptr addrspace(3) %q\n  ret void";
  expectRuns(body, 1,
             "@table = internal constant [2 x ptr addrspace(3)] [ptr "
             "addrspace(3) @fixed, ptr addrspace(3) getelementptr (i8, ptr "
             "addrspace(3) @dynamic, i64 16)]");
  expectRuns("  store float 0.0, ptr addrspace(3) @fixed\n  ret void", 1,
             "@llvm.used = appending global [1 x ptr] [ptr addrspacecast (ptr "
             "addrspace(3) @fixed to ptr)], section \"llvm.metadata\"");
  Result variable = redirectBody(
      "@table = internal global [1 x ptr addrspace(3)] [ptr addrspace(3) "
      "@fixed]",
      body);
  ASSERT_EQ(variable.obstacles.size(), 1u);
  EXPECT_EQ(variable.obstacles.front(),
            "global 'table' holds an address in shared memory, which the "
            "executor supports only in constants");
}

TEST(Redirect, PrivateMemoryIsNotChecked) {
  expectRuns("  %a = alloca [8 x float]\n  %b = alloca [8 x float]\n"
             "  %p = select i1 %c, ptr %a, ptr %b\n"
             "  %q = getelementptr float, ptr %p, i64 %i\n"
             "  store float 0.0, ptr %q\n  ret void",
             0);
  expectRuns("  %a = alloca [8 x float]\n"
             "  %p = select i1 %c, ptr %a, ptr addrspacecast (ptr addrspace(3) "
             "@fixed to ptr)\n"
             "  store float 0.0, ptr %p\n  ret void",
             1);
}
