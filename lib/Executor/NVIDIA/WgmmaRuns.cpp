//===- WgmmaRuns.cpp - Inline assembly of several wgmmas ------------------===//

#include "WgmmaRuns.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace {
/// The expansion of one inline assembly.
class WgmmaRun {
public:
  explicit WgmmaRun(CallInst &call);

  /// Emits instructions in front of the call. Returns false if the assembly has
  /// an instruction that is not known here.
  bool expand();

private:
  bool expandLine(StringRef line);
  bool expandMma(StringRef line);
  Value *find(StringRef text) const;

  CallInst &call;
  StringRef text;
  IRBuilder<> builder;
  /// The results, each an accumulator; null before the first MMA of one.
  SmallVector<Value *> results;
  /// The operands, which are counted behind the results.
  SmallVector<Value *> operands;
  /// The registers that the assembly declares.
  StringMap<Value *> registers;
};
} // namespace

WgmmaRun::WgmmaRun(CallInst &call) : call(call), builder(&call) {
  auto *assembly = cast<InlineAsm>(call.getCalledOperand());
  text = assembly->getAsmString();
  for (const InlineAsm::ConstraintInfo &constraint :
       assembly->ParseConstraints()) {
    if (constraint.Type == InlineAsm::isOutput) {
      results.push_back(nullptr);
    } else if (constraint.Type == InlineAsm::isInput) {
      operands.push_back(call.getArgOperand(operands.size()));
      // An operand in the registers of a result has its number.
      unsigned tied;
      if (!StringRef(constraint.Codes.front()).getAsInteger(10, tied))
        results[tied] = operands.back();
    }
  }
}

/// Returns the value of `$7`, of a register or of a number; null if there is
/// none.
Value *WgmmaRun::find(StringRef text) const {
  text = text.trim();
  if (text.consume_front("$")) {
    unsigned number;
    if (text.getAsInteger(10, number))
      return nullptr;
    if (number < results.size())
      return results[number];
    number -= results.size();
    return number < operands.size() ? operands[number] : nullptr;
  }
  return registers.lookup(text);
}

bool WgmmaRun::expand() {
  for (StringRef line : split(text, '\n'))
    if (!expandLine(line.trim()))
      return false;
  if (llvm::is_contained(results, nullptr))
    return false;
  Value *structure = PoisonValue::get(call.getType());
  for (auto [i, result] : llvm::enumerate(results))
    structure = builder.CreateInsertValue(structure, result, i);
  call.replaceAllUsesWith(structure);
  return true;
}

bool WgmmaRun::expandLine(StringRef line) {
  if (line.empty() || line == "{" || line == "}" || line.starts_with(".reg "))
    return true;
  if (line.starts_with("wgmma.mma_async"))
    return expandMma(line);
  auto [name, rest] = line.rtrim(';').split(' ');
  SmallVector<StringRef> parts;
  rest.split(parts, ',');
  if (parts.size() < 2)
    return false;
  Value *source = find(parts[1]), *&result = registers[parts[0].trim()];
  int64_t number = 0;
  if (!source ||
      (parts.size() == 3 && parts[2].trim().getAsInteger(10, number)))
    return false;
  if (name == "add.s32" && parts.size() == 3)
    result = builder.CreateAdd(source, builder.getInt32(number));
  else if (name == "cvt.u64.u32" && parts.size() == 2)
    result = builder.CreateZExt(source, builder.getInt64Ty());
  else if (name == "or.b64" && parts.size() == 3)
    result = builder.CreateOr(source, builder.getInt64(number));
  else
    return false;
  return true;
}

/// Expands `wgmma.mma_async... {$0, ...}, <a>, <b>, <scale>...;`, where a may
/// be a list of registers.
bool WgmmaRun::expandMma(StringRef line) {
  auto [name, lists] = line.split(" {");
  auto [accumulator, rest] = lists.split("}, ");
  SmallVector<unsigned> places;
  for (StringRef place : split(accumulator, ','))
    if (unsigned number; !place.trim().consume_front("$") ||
                         place.trim().drop_front().getAsInteger(10, number) ||
                         number >= results.size())
      return false;
    else
      places.push_back(number);
  SmallVector<StringRef> left;
  bool inRegisters = rest.consume_front("{");
  auto [a, behind] = rest.split(inRegisters ? "}, " : ", ");
  a.split(left, ',');
  auto [right, tail] = behind.split(", ");

  // The accumulators are the first operands, unless the MMA starts from zero.
  SmallVector<Value *> values;
  SmallVector<std::string> constraints;
  SmallVector<Type *> types;
  bool fromZero = tail.starts_with("0");
  for (unsigned place : places) {
    types.push_back(cast<StructType>(call.getType())->getElementType(place));
    constraints.push_back(types.back()->isFloatTy() ? "=f" : "=r");
    if (fromZero)
      constraints.back().insert(1, "&");
    else
      values.push_back(results[place]);
  }
  for (size_t i = 0; i < values.size(); ++i)
    constraints.push_back(std::to_string(i));
  size_t next = places.size() + values.size();
  auto list = [](size_t first, size_t count) {
    std::string text;
    for (size_t i = first; i < first + count; ++i)
      text += (i == first ? "$" : ", $") + std::to_string(i);
    return text;
  };
  std::string assembly = (name + " {" + list(0, places.size()) + "}, ").str();
  std::string numbers = list(next, left.size());
  assembly += inRegisters ? "{" + numbers + "}" : numbers;
  assembly += ", " + list(next + left.size(), 1) + ", " + tail.str();
  left.push_back(right);
  for (StringRef operand : left) {
    values.push_back(find(operand));
    if (values.back())
      constraints.push_back(values.back()->getType()->isIntegerTy(64) ? "l"
                                                                      : "r");
  }
  if (llvm::is_contained(values, nullptr))
    return false;
  SmallVector<Type *> parameters;
  for (Value *value : values)
    parameters.push_back(value->getType());
  auto *type = FunctionType::get(StructType::get(call.getContext(), types),
                                 parameters, /*isVarArg=*/false);
  Value *result = builder.CreateCall(
      InlineAsm::get(type, assembly, llvm::join(constraints, ","),
                     /*hasSideEffects=*/true),
      values);
  for (auto [i, place] : llvm::enumerate(places))
    results[place] = builder.CreateExtractValue(result, i);
  return true;
}

void tile::cpu::expandWgmmaRuns(Module &module) {
  SmallVector<CallInst *> calls;
  for (Function &function : module)
    for (Instruction &inst : instructions(function))
      if (auto *call = dyn_cast<CallInst>(&inst))
        if (auto *assembly = dyn_cast<InlineAsm>(call->getCalledOperand());
            assembly && assembly->getAsmString().contains("wgmma.mma_async") &&
            assembly->getAsmString().contains('\n'))
          calls.push_back(call);
  for (CallInst *call : calls)
    if (WgmmaRun(*call).expand())
      call->eraseFromParent();
}
