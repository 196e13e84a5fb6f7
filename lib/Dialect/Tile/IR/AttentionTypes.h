//===- AttentionTypes.h - Type lists of the named operations ----*- C++ -*-===//
//
// Parses and prints the types of an operation's buffers, in the order of its
// operands. Absent optional operands have no type in the list.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_DIALECT_TILE_IR_ATTENTIONTYPES_H
#define TILE_LIB_DIALECT_TILE_IR_ATTENTIONTYPES_H

#include "mlir/IR/OpImplementation.h"

namespace tile {

using OptionalOperand = std::optional<mlir::OpAsmParser::UnresolvedOperand>;

mlir::ParseResult
parseAttentionTypes(mlir::OpAsmParser &parser, mlir::Type &q, mlir::Type &k,
                    mlir::Type &v, mlir::Type &o, const OptionalOperand &hasLse,
                    mlir::Type &lse, const OptionalOperand &hasSink,
                    mlir::Type &sink, const OptionalOperand &isPacked,
                    mlir::Type &cuQ, mlir::Type &cuK);

void printAttentionTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                         mlir::Type q, mlir::Type k, mlir::Type v, mlir::Type o,
                         mlir::Value hasLse, mlir::Type lse,
                         mlir::Value hasSink, mlir::Type sink,
                         mlir::Value isPacked, mlir::Type cuQ, mlir::Type cuK);

mlir::ParseResult parseAttentionBackwardTypes(
    mlir::OpAsmParser &parser, mlir::Type &q, mlir::Type &k, mlir::Type &v,
    mlir::Type &o, mlir::Type &dO, mlir::Type &lse,
    const OptionalOperand &hasDLse, mlir::Type &dLse, mlir::Type &dq,
    mlir::Type &dk, mlir::Type &dv, mlir::Type &stats,
    const OptionalOperand &hasDqAcc, mlir::Type &dqAcc,
    const OptionalOperand &hasKvAcc, mlir::Type &dkAcc, mlir::Type &dvAcc,
    const OptionalOperand &hasSink, mlir::Type &sink, mlir::Type &dSink,
    const OptionalOperand &isPacked, mlir::Type &cuQ, mlir::Type &cuK);

void printAttentionBackwardTypes(
    mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Type q,
    mlir::Type k, mlir::Type v, mlir::Type o, mlir::Type dO, mlir::Type lse,
    mlir::Value hasDLse, mlir::Type dLse, mlir::Type dq, mlir::Type dk,
    mlir::Type dv, mlir::Type stats, mlir::Value hasDqAcc, mlir::Type dqAcc,
    mlir::Value hasKvAcc, mlir::Type dkAcc, mlir::Type dvAcc,
    mlir::Value hasSink, mlir::Type sink, mlir::Type dSink,
    mlir::Value isPacked, mlir::Type cuQ, mlir::Type cuK);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_IR_ATTENTIONTYPES_H
