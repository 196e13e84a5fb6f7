//===- Redirect.cpp - Rewrites a GPU's LLVM IR for the host ---------------===//

#include "Redirect.h"
#include "AMD/BufferAccess.h"
#include "Atomic.h"
#include "HostCode.h"
#include "NVIDIA/WgmmaRuns.h"
#include "RegistersInFlight.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Support/Path.h"

using namespace tile::cpu;
using namespace llvm;
namespace cpu = tile::cpu;

static constexpr unsigned kGlobalSpace = 1, kSharedSpace = 3;
/// Prefix of the functions that the runtime provides.
static constexpr StringLiteral kRuntimePrefix = "tile_cpu_";

Position tile::cpu::positionOf(const llvm::Instruction &inst) {
  const DILocation *location = inst.getDebugLoc();
  // LLVM gives an instruction that stands for several line 0.
  if (!location || location->getLine() == 0)
    return {};
  SmallString<128> path(location->getFilename());
  if (!path.empty() && sys::path::is_relative(path))
    sys::path::append(path = location->getDirectory(), location->getFilename());
  return {path.str().str(), location->getLine(), location->getColumn()};
}

namespace {

/// Rewrites one module.
class Redirection {
public:
  Redirection(Module &module, Redirected &result, bool watched)
      : watched(watched), module(module), context(module.getContext()),
        layout(module.getDataLayout()), result(result),
        pointer(PointerType::get(context, 0)) {}

  std::vector<Obstacle> run();

private:
  void placeShared();
  void exportConstants();
  void copyConstantsWithSharedAddresses(ArrayRef<Constant *> shared);
  void addThreadArguments();
  void addEntry(Function &kernel);
  void redirectFunction(Function &function);
  void replaceShared(Function &function);
  void replaceCall(CallBase &call);
  void replaceAtomic(AtomicRMWInst &inst);
  void replaceAlloca(AllocaInst &alloca);
  void announceAccess(llvm::Instruction &inst);
  void announceFence(FenceInst &fence);
  void announceUse(const RegisterUse &use);
  void announceTurns(Function &function);
  void announceDivision(BinaryOperator &division);
  void callWithSite(IRBuilder<> &builder, StringRef function, Site &site,
                    ArrayRef<Value *> operands);
  Site &addSite(const llvm::Instruction &inst, StringRef name);
  Value *emitSite(IRBuilder<> &builder, Site &site, ArrayRef<Value *> operands,
                  Type *resultType);
  void refuse(const llvm::Instruction &inst, const Twine &message) {
    std::string text = message.str();
    // One report of each kind is enough.
    if (none_of(obstacles, [&](auto &other) { return other.message == text; }))
      obstacles.push_back({positionOf(inst), std::move(text)});
  }

  bool watched;
  Module &module;
  LLVMContext &context;
  const DataLayout &layout;
  Redirected &result;
  PointerType *pointer;
  std::vector<Obstacle> obstacles;
  /// Offsets of variables in shared memory.
  MapVector<GlobalVariable *, uint64_t> sharedOffsets;
  /// State of the current function.
  AllocaInst *frame = nullptr;
  uint64_t frameBytes = 0;
  SmallVector<CallBase *> descriptors;
};

} // namespace

/// Returns whether the host's back end supports this function.
static bool isHostFunction(const Function &callee) {
  StringRef name = callee.getName();
  return callee.isIntrinsic() && !name.starts_with("llvm.nvvm.") &&
         !name.starts_with("llvm.amdgcn.") && !name.starts_with("llvm.r600.");
}

/// Returns the mnemonic of an assembly text: the instruction after the
/// declarations of registers, labels and predicates.
static StringRef mnemonicOf(StringRef text) {
  while (true) {
    text = text.ltrim(" \t\n{");
    if (text.starts_with("@")) {
      text = text.drop_until([](char c) { return isSpace(c); });
      continue;
    }
    StringRef name = text.take_until(
        [](char c) { return isSpace(c) || c == ';' || c == '{'; });
    if (name.ends_with(":"))
      text = text.drop_front(name.size());
    else if (name == ".reg" || name.starts_with("setp."))
      text = text.split(';').second;
    else
      return name;
  }
}

StringRef tile::cpu::nameOf(const CallBase &call) {
  if (auto *assembly = dyn_cast<InlineAsm>(call.getCalledOperand()))
    return mnemonicOf(assembly->getAsmString());
  const Function *callee = call.getCalledFunction();
  return callee ? callee->getName() : StringRef();
}

void Redirection::placeShared() {
  uint64_t end = 0;
  SmallVector<GlobalVariable *> dynamic;
  for (GlobalVariable &global : module.globals()) {
    if (global.getAddressSpace() != kSharedSpace)
      continue;
    if (global.isDeclaration()) {
      dynamic.push_back(&global);
      continue;
    }
    end = alignTo(end, global.getAlign().valueOrOne());
    sharedOffsets[&global] = end;
    end += layout.getTypeAllocSize(global.getValueType());
  }
  if (!dynamic.empty())
    end = alignTo(end, 1024);
  for (GlobalVariable *global : dynamic)
    sharedOffsets[global] = end;
  result.staticShared = end;
}

/// Gives each function its own copy of every constant global whose initialiser
/// holds an address in shared memory, because the address depends on the block.
void Redirection::copyConstantsWithSharedAddresses(
    ArrayRef<Constant *> shared) {
  SmallSetVector<GlobalVariable *, 4> holders;
  SmallSetVector<Constant *, 16> worklist(shared.begin(), shared.end());
  for (size_t i = 0; i < worklist.size(); ++i)
    for (User *user : worklist[i]->users()) {
      if (auto *global = dyn_cast<GlobalVariable>(user))
        holders.insert(global);
      else if (auto *constant = dyn_cast<Constant>(user))
        worklist.insert(constant);
    }
  for (GlobalVariable *holder : holders) {
    // Nothing reads the addresses in llvm.used and similar globals.
    if (holder->hasAppendingLinkage()) {
      holder->eraseFromParent();
      continue;
    }
    convertUsersOfConstantsToInstructions({holder});
    SmallDenseMap<Function *, SmallVector<Use *>> uses;
    bool copied = holder->isConstant();
    for (Use &use : holder->uses())
      if (auto *inst = dyn_cast<llvm::Instruction>(use.getUser()))
        uses[inst->getFunction()].push_back(&use);
      else
        copied = false;
    if (!copied) {
      obstacles.push_back({{},
                           "global '" + holder->getName().str() +
                               "' holds an address in shared memory, which the "
                               "executor supports only in constants"});
      continue;
    }
    for (auto &[function, functionUses] : uses) {
      IRBuilder<> builder(&*function->getEntryBlock().getFirstInsertionPt());
      AllocaInst *copy = builder.CreateAlloca(holder->getValueType(), 0u);
      copy->setAlignment(
          std::max(copy->getAlign(), holder->getAlign().valueOrOne()));
      builder.CreateStore(holder->getInitializer(), copy);
      Value *address = builder.CreateAddrSpaceCast(copy, holder->getType());
      for (Use *use : functionUses)
        use->set(address);
    }
    holder->eraseFromParent();
  }
}

/// Adds the thread as the first argument of every function.
void Redirection::addThreadArguments() {
  SmallVector<Function *> functions;
  for (Function &function : module)
    if (!function.isDeclaration())
      functions.push_back(&function);
  DenseMap<Function *, Function *> replacements;
  for (Function *old : functions) {
    SmallVector<Type *> types{pointer};
    append_range(types, old->getFunctionType()->params());
    auto *type =
        FunctionType::get(old->getReturnType(), types, old->isVarArg());
    Function *function = Function::Create(type, GlobalValue::ExternalLinkage,
                                          old->getAddressSpace(), "", &module);
    function->takeName(old);
    function->setSubprogram(old->getSubprogram());
    function->splice(function->begin(), old);
    for (auto [from, to] : zip(old->args(), drop_begin(function->args())))
      from.replaceAllUsesWith(&to);
    replacements[old] = function;
  }
  for (auto [old, function] : replacements)
    for (User *user : make_early_inc_range(old->users())) {
      auto *call = dyn_cast<CallInst>(user);
      if (!call || call->getCalledFunction() != old) {
        if (auto *inst = dyn_cast<llvm::Instruction>(user))
          refuse(*inst, "the address of function '" + function->getName() +
                            "' is taken");
        continue;
      }
      SmallVector<Value *> operands{call->getFunction()->getArg(0)};
      append_range(operands, call->args());
      auto *replacement =
          CallInst::Create(function, operands, "", call->getIterator());
      replacement->setDebugLoc(call->getDebugLoc());
      call->replaceAllUsesWith(replacement);
      call->eraseFromParent();
    }
  for (Function *old : functions) {
    bool kernel = old->getCallingConv() == CallingConv::PTX_Kernel ||
                  old->getCallingConv() == CallingConv::AMDGPU_KERNEL;
    Function *function = replacements[old];
    if (old->use_empty())
      old->eraseFromParent();
    if (kernel)
      addEntry(*function);
  }
}

/// Adds a function that unpacks the kernel's arguments.
void Redirection::addEntry(Function &kernel) {
  auto *type =
      FunctionType::get(Type::getVoidTy(context), {pointer, pointer}, false);
  Function *entry = Function::Create(type, GlobalValue::ExternalLinkage,
                                     kernel.getName() + ".entry", module);
  IRBuilder<> builder(BasicBlock::Create(context, "", entry));
  SmallVector<Value *> operands{entry->getArg(0)};
  for (auto [i, argument] : enumerate(drop_begin(kernel.args())))
    operands.push_back(builder.CreateLoad(
        argument.getType(),
        builder.CreateConstGEP1_64(builder.getInt64Ty(), entry->getArg(1), i)));
  builder.CreateCall(&kernel, operands);
  builder.CreateRetVoid();
}

/// Replaces the variables in shared memory by instructions. This comes before
/// all other rewriting, because an IRBuilder folds a cast of a variable into a
/// constant expression, which belongs to no function.
void Redirection::replaceShared(Function &function) {
  IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
  Value *base = nullptr;
  for (auto [global, offset] : sharedOffsets) {
    SmallVector<Use *> uses;
    for (Use &use : global->uses())
      if (auto *inst = dyn_cast<llvm::Instruction>(use.getUser()))
        if (inst->getFunction() == &function)
          uses.push_back(&use);
    if (uses.empty())
      continue;
    if (!base) {
      FunctionCallee runtime =
          module.getOrInsertFunction("tile_cpu_shared", pointer, pointer);
      base = builder.CreateAddrSpaceCast(
          builder.CreateCall(runtime, {function.getArg(0)}),
          PointerType::get(context, kSharedSpace));
    }
    Value *address =
        builder.CreateConstGEP1_64(builder.getInt8Ty(), base, offset);
    for (Use *use : uses)
      use->set(address);
  }
}

/// Moves private memory to the thread's stack.
void Redirection::replaceAlloca(AllocaInst &alloca) {
  if (!isa<ConstantInt>(alloca.getArraySize()))
    refuse(alloca, "an alloca of dynamic size cannot be run");
  if (alloca.getAddressSpace() == 0)
    return;
  IRBuilder<> builder(&alloca);
  AllocaInst *local =
      builder.CreateAlloca(alloca.getAllocatedType(), 0, alloca.getArraySize());
  local->setAlignment(alloca.getAlign());
  alloca.replaceAllUsesWith(
      builder.CreateAddrSpaceCast(local, alloca.getType()));
  alloca.eraseFromParent();
}

/// Stores the operands into the frame, calls the runtime and loads the result.
Value *Redirection::emitSite(IRBuilder<> &builder, Site &site,
                             ArrayRef<Value *> operands, Type *resultType) {
  uint64_t end = 0;
  auto place = [&](Type *type) {
    uint64_t size = layout.getTypeStoreSize(type);
    end = alignTo(
        end, std::min<uint64_t>(16, PowerOf2Ceil(std::max<uint64_t>(size, 1))));
    uint64_t offset = end;
    end += size;
    return std::pair(unsigned(offset), unsigned(size));
  };
  if (!resultType->isVoidTy())
    site.resultSize = place(resultType).second;
  for (Value *operand : operands) {
    auto [offset, size] = place(operand->getType());
    site.operands.push_back({offset, size});
    // The frame is aligned to 16 bytes. LLVM expects more for wide vectors.
    builder.CreateAlignedStore(
        operand, builder.CreateConstGEP1_64(builder.getInt8Ty(), frame, offset),
        commonAlignment(Align(16), offset));
  }
  frameBytes = std::max(frameBytes, end);
  callWithSite(builder, "tile_cpu_call", site, {frame});
  if (resultType->isVoidTy())
    return nullptr;
  return builder.CreateAlignedLoad(resultType, frame, Align(16));
}

/// Calls the runtime with the thread, the site and pointers.
void Redirection::callWithSite(IRBuilder<> &builder, StringRef function,
                               Site &site, ArrayRef<Value *> operands) {
  SmallVector<Value *> all{
      builder.GetInsertBlock()->getParent()->getArg(0),
      builder.CreateIntToPtr(
          builder.getInt64(reinterpret_cast<uintptr_t>(&site)), pointer)};
  append_range(all, operands);
  SmallVector<Type *> types(all.size(), pointer);
  builder.CreateCall(
      module.getOrInsertFunction(
          function, FunctionType::get(builder.getVoidTy(), types, false)),
      all);
}

/// Returns whether `address` certainly points to memory that needs no check:
/// private memory, or a global of the module. The shared variables of the
/// function must have been replaced.
static bool isUnchecked(const Value *address) {
  SmallVector<const Value *> objects;
  getUnderlyingObjects(address, objects, /*LI=*/nullptr, /*MaxLookup=*/0);
  return all_of(objects, [](const Value *object) {
    return isa<AllocaInst, GlobalVariable>(object);
  });
}

/// Inserts a call of the runtime before a load, a store or a compare-and-swap.
namespace {
/// Contiguous bytes of an access, from its address on.
struct ByteRange {
  uint64_t offset, size;
};
} // namespace

/// Returns whether each element of the result depends on the elements of the
/// operands in the same place only.
static bool isElementwise(const User &user) {
  if (auto *call = dyn_cast<IntrinsicInst>(&user))
    return isTriviallyVectorizable(call->getIntrinsicID());
  return isa<UnaryOperator, BinaryOperator, CastInst, CmpInst, FreezeInst,
             SelectInst>(user);
}

namespace {
/// Finds the bytes of vectors that their users depend on.
class UsedBytes {
public:
  explicit UsedBytes(const DataLayout &layout) : layout(layout) {}

  /// Returns the bytes of `vector` that are used, all where that is not known.
  const SmallBitVector &find(const Value &vector);

private:
  bool mark(const Value &vector, const User &user, SmallBitVector &used);

  const DataLayout &layout;
  DenseMap<const Value *, SmallBitVector> known;
};
} // namespace

const SmallBitVector &UsedBytes::find(const Value &vector) {
  if (auto it = known.find(&vector); it != known.end())
    return it->second;
  SmallBitVector used(layout.getTypeStoreSize(vector.getType()));
  bool isKnown = llvm::all_of(vector.users(), [&](const User *user) {
    return mark(vector, *user, used);
  });
  if (!isKnown)
    used.set();
  return known.insert({&vector, std::move(used)}).first->second;
}

/// Marks the bytes of `vector` that `user` depends on. Returns false where that
/// may be all of them.
bool UsedBytes::mark(const Value &vector, const User &user,
                     SmallBitVector &used) {
  auto *type = dyn_cast<FixedVectorType>(vector.getType());
  if (!type)
    return false;
  unsigned count = type->getNumElements();
  unsigned bytes = layout.getTypeStoreSize(type->getElementType());
  if (bytes * count != used.size())
    return false;
  auto markElement = [&](unsigned index) {
    used.set(index * bytes, (index + 1) * bytes);
  };
  if (auto *extract = dyn_cast<ExtractElementInst>(&user)) {
    auto *index = dyn_cast<ConstantInt>(extract->getIndexOperand());
    if (!index || index->getValue().uge(count))
      return false;
    markElement(index->getZExtValue());
    return true;
  }
  auto *result = dyn_cast<FixedVectorType>(user.getType());
  if (!result)
    return false;
  if (isa<BitCastInst>(user)) {
    used |= find(user);
    return true;
  }
  auto *shuffle = dyn_cast<ShuffleVectorInst>(&user);
  unsigned results = result->getNumElements();
  if (!shuffle && !(isElementwise(user) && results == count))
    return false;
  const SmallBitVector &usedResults = find(user);
  // Elements of less than a byte are packed.
  if (usedResults.size() % results != 0)
    return false;
  unsigned resultBytes = usedResults.size() / results;
  for (int i = usedResults.find_first(); i >= 0;) {
    int index = i / resultBytes;
    i = usedResults.find_next((index + 1) * resultBytes - 1);
    if (shuffle) {
      index = shuffle->getMaskValue(index);
      if (index < 0 || shuffle->getOperand(unsigned(index) >= count) != &vector)
        continue;
      index %= count;
    }
    markElement(index);
  }
  return true;
}

/// Returns the bytes of memory that the users of a load depend on. LLVM widens
/// and merges loads where the memory between and behind them may be read, and
/// takes the elements that the program loads out of the vector; the others may
/// be padding that no thread writes. A load of which no user needs an element,
/// because a store masks all of them, has no bytes.
static SmallVector<ByteRange> findUsedBytes(const LoadInst &load,
                                            const DataLayout &layout) {
  int size = layout.getTypeStoreSize(load.getType());
  UsedBytes bytes(layout);
  const SmallBitVector &used = bytes.find(load);
  if (load.use_empty() || load.isVolatile() || load.isAtomic())
    return {{0, uint64_t(size)}};
  SmallVector<ByteRange> ranges;
  for (int begin = used.find_first(); begin >= 0;) {
    int end = used.find_next_unset(begin);
    end = end < 0 ? size : end;
    ranges.push_back({uint64_t(begin), uint64_t(end - begin)});
    begin = end == size ? -1 : used.find_next(end);
  }
  return ranges;
}

void Redirection::announceAccess(llvm::Instruction &inst) {
  const Value *address = getLoadStorePointerOperand(&inst);
  if (auto *swap = dyn_cast<AtomicCmpXchgInst>(&inst))
    address = swap->getPointerOperand();
  if (!address || isUnchecked(address))
    return;
  auto *load = dyn_cast<LoadInst>(&inst);
  auto *store = dyn_cast<StoreInst>(&inst);
  Type *type = store  ? store->getValueOperand()->getType()
               : load ? load->getType()
                      : inst.getOperand(1)->getType();
  uint64_t size = layout.getTypeStoreSize(type);
  SmallVector<ByteRange> ranges{{0, size}};
  if (load)
    ranges = findUsedBytes(*load, layout);
  Align alignment = store  ? store->getAlign()
                    : load ? load->getAlign()
                           : Align(size);
  IRBuilder<> builder(&inst);
  Value *base =
      builder.CreateAddrSpaceCast(const_cast<Value *>(address), pointer);
  for (ByteRange range : ranges) {
    Site &site = addSite(inst, load ? "load" : store ? "store" : "cmpxchg");
    site.accessBytes = range.size;
    site.accessAlignment = commonAlignment(alignment, range.offset).value();
    site.reads = !store;
    site.writes = !load;
    site.atomic = inst.isAtomic();
    if (site.accessBytes % 2 != 0)
      result.unit = 1;
    callWithSite(
        builder, "tile_cpu_access", site,
        {builder.CreateConstGEP1_64(builder.getInt8Ty(), base, range.offset)});
  }
}

void Redirection::announceFence(FenceInst &fence) {
  Site &site = addSite(fence, "fence");
  site.reads = isAcquireOrStronger(fence.getOrdering());
  // A release to the own wave waits for nothing. An acquire needs no
  // instruction on chips where it can have this scope.
  SmallVector<StringRef> scopes;
  context.getSyncScopeNames(scopes);
  bool ofWave = is_contained({"singlethread", "wavefront"},
                             scopes[fence.getSyncScopeID()]);
  site.writes = !ofWave && isReleaseOrStronger(fence.getOrdering());
  IRBuilder<> builder(&fence);
  callWithSite(builder, "tile_cpu_fence", site, {});
}

/// Inserts a call of the runtime before a use of a value that may be a register
/// in flight.
void Redirection::announceUse(const RegisterUse &use) {
  Site &site = addSite(*use.user, use.user->getOpcodeName());
  IRBuilder<> builder(use.user);
  builder.CreateAlignedStore(use.value, frame, Align(16));
  site.accessBytes = layout.getTypeStoreSize(use.value->getType());
  frameBytes = std::max<uint64_t>(frameBytes, site.accessBytes);
  callWithSite(builder, "tile_cpu_use", site, {frame});
}

/// Inserts a call of the runtime at the end of every loop iteration.
void Redirection::announceTurns(Function &function) {
  SmallVector<std::pair<const BasicBlock *, const BasicBlock *>> edges;
  FindFunctionBackedges(function, edges);
  SmallPtrSet<const BasicBlock *, 8> seen;
  for (auto [from, header] : edges) {
    if (!seen.insert(from).second)
      continue;
    llvm::Instruction *end = const_cast<BasicBlock *>(from)->getTerminator();
    // Branches that nobody wrote have no location.
    const llvm::Instruction *place = end;
    for (const llvm::Instruction &inst : *header)
      if (!place->getDebugLoc() && inst.getDebugLoc())
        place = &inst;
    Site &site = addSite(*place, "loop");
    IRBuilder<> builder(end);
    callWithSite(builder, "tile_cpu_turn", site, {});
  }
}

/// Inserts a call of the runtime that reports a division without a result.
void Redirection::announceDivision(BinaryOperator &division) {
  Value *wrong = guardDivision(division);
  if (!wrong || !watched)
    return;
  Site &site = addSite(division, division.getOpcodeName());
  IRBuilder<> builder(&division);
  callWithSite(builder, "tile_cpu_division", site,
               {builder.CreateIntToPtr(
                   builder.CreateZExt(wrong, builder.getInt64Ty()), pointer)});
}

void Redirection::replaceCall(CallBase &call) {
  if (makesDescriptor(call)) {
    descriptors.push_back(&call);
    return;
  }
  std::string name = nameOf(call).str();
  // Empty assembly keeps the computation of its operands in front of it, or
  // returns its operand.
  bool isVoid = call.getType()->isVoidTy();
  bool returnsOperand = call.arg_size() == 1 &&
                        call.getArgOperand(0)->getType() == call.getType();
  if (name.empty() && call.isInlineAsm() && (isVoid || returnsOperand)) {
    if (!isVoid)
      call.replaceAllUsesWith(call.getArgOperand(0));
    call.eraseFromParent();
    return;
  }
  if (name.empty())
    return refuse(call, "an indirect call cannot be run");
  const Function *callee = call.getCalledFunction();
  const cpu::Instruction *row = findInstruction(name);
  if (callee && !row &&
      (callee->getName().starts_with(kRuntimePrefix) ||
       !callee->isDeclaration() || isHostFunction(*callee)))
    return;
  if (!row)
    return refuse(call,
                  "the executor does not know the instruction '" + name + "'");

  IRBuilder<> builder(&call);
  Value *value;
  if (row->host) {
    if (watched) {
      Site &site = addSite(call, name);
      site.row = row;
      callWithSite(builder, "tile_cpu_visit", site, {});
    }
    FunctionCallee callee = module.getOrInsertFunction(
        ("tile_cpu_host." + row->name).str(), call.getFunctionType());
    value = builder.CreateCall(callee, SmallVector<Value *>(call.args()));
  } else {
    Site &site = addSite(call, name);
    site.row = row;
    value = emitSite(builder, site, operandParts(call), call.getType());
    if (row->decode)
      if (Error error = row->decode(call, site))
        return refuse(call, "the executor does not know this form of '" + name +
                                "': " + toString(std::move(error)));
    if (site.accessBytes % 2 != 0)
      result.unit = 1;
  }
  if (value)
    call.replaceAllUsesWith(value);
  call.eraseFromParent();
}

Site &Redirection::addSite(const llvm::Instruction &inst, StringRef name) {
  Site &site = result.sites.emplace_back();
  site.name = name.str();
  site.position = positionOf(inst);
  site.index = result.sites.size() - 1;
  return site;
}

void Redirection::replaceAtomic(AtomicRMWInst &inst) {
  Site &site = addSite(inst, "atomicrmw");
  if (Error error = decodeAtomic(inst, site))
    return refuse(inst,
                  "the executor does not know this form of 'atomicrmw': " +
                      toString(std::move(error)));
  IRBuilder<> builder(&inst);
  Value *old =
      emitSite(builder, site, {inst.getPointerOperand(), inst.getValOperand()},
               inst.getType());
  inst.replaceAllUsesWith(old);
  inst.eraseFromParent();
}

void Redirection::redirectFunction(Function &function) {
  IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
  frame = builder.CreateAlloca(builder.getInt8Ty(), 0, builder.getInt64(0));
  frame->setAlignment(Align(16));
  frameBytes = 0;
  descriptors.clear();
  divideDescriptors(function);
  expandPairConversions(function);
  replaceShared(function);
  // Only instructions of the program are reported, not those inserted below.
  SmallVector<llvm::Instruction *> accesses;
  SmallVector<BinaryOperator *> divisions;
  for (llvm::Instruction &inst : instructions(function)) {
    if (isa<LoadInst, StoreInst, AtomicCmpXchgInst>(inst))
      accesses.push_back(&inst);
    if (auto *binary = dyn_cast<BinaryOperator>(&inst);
        binary && binary->isIntDivRem())
      divisions.push_back(binary);
  }
  for (BinaryOperator *division : divisions)
    announceDivision(*division);
  if (watched)
    for (llvm::Instruction *inst : accesses)
      announceAccess(*inst);
  if (watched)
    for (const RegisterUse &use : findRegisterUses(function))
      announceUse(use);
  for (llvm::Instruction &inst : make_early_inc_range(instructions(function))) {
    if (auto *call = dyn_cast<CallBase>(&inst))
      replaceCall(*call);
    else if (auto *atomic = dyn_cast<AtomicRMWInst>(&inst))
      replaceAtomic(*atomic);
    else if (auto *fence = dyn_cast<FenceInst>(&inst); fence && watched)
      announceFence(*fence);
    else if (auto *alloca = dyn_cast<AllocaInst>(&inst);
             alloca && alloca != frame)
      replaceAlloca(*alloca);
  }
  for (CallBase *call : descriptors)
    if (call->use_empty())
      call->eraseFromParent();
    else
      refuse(*call, "a buffer descriptor is used by what is no buffer "
                    "instruction");
  announceTurns(function);
  frame->setOperand(0, builder.getInt64(frameBytes));
  expandBF16Conversions(function);
}

/// Makes the constants of the module known by name, so that the executor finds
/// their addresses.
void Redirection::exportConstants() {
  for (GlobalVariable &global : module.globals()) {
    if (!global.isConstant() || global.isDeclaration() || !global.hasName() ||
        global.getAddressSpace() != kGlobalSpace)
      continue;
    global.setLinkage(GlobalValue::ExternalLinkage);
    result.constants.push_back(
        {global.getName().str(),
         layout.getTypeAllocSize(global.getValueType()).getFixedValue()});
  }
}

std::vector<Obstacle> Redirection::run() {
  expandWgmmaRuns(module);
  placeShared();
  SmallVector<Constant *> shared;
  for (auto [global, offset] : sharedOffsets)
    shared.push_back(global);
  copyConstantsWithSharedAddresses(shared);
  convertUsersOfConstantsToInstructions(shared);
  SmallVector<Function *> functions;
  // Functions that a row emulates.
  for (Function &function : module)
    if (!function.isDeclaration() && findInstruction(function.getName()))
      function.deleteBody();
  if (const Function *function = findRecursion(module))
    refuse(function->getEntryBlock().front(),
           "function '" + function->getName() +
               "' calls itself, which cannot be run");
  addThreadArguments();
  for (Function &function : module)
    if (!function.isDeclaration() && !function.getName().ends_with(".entry"))
      functions.push_back(&function);
  for (Function *function : functions)
    redirectFunction(*function);
  defineNarrowingFunctions(module);
  exportConstants();
  return std::move(obstacles);
}

std::vector<Obstacle> tile::cpu::redirect(Module &module, Redirected &result,
                                          bool watched) {
  return Redirection(module, result, watched).run();
}
