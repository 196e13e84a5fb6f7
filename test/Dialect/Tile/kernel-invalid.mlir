// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error@+2 {{custom op 'tile.kernel' a kernel needs a body}}
tile.kernel @no_body()
func.func private @next()

// -----

// expected-error@+1 {{custom op 'tile.kernel' expected non-empty function body}}
tile.kernel @empty_body() {
}

// -----

// expected-error@+1 {{'tile.kernel' op region #0 ('body') failed to verify constraint: region with 1 blocks}}
"tile.kernel"() <{sym_name = "empty_region", function_type = () -> (), num_warps = 4 : i32}> ({
}) : () -> ()

// -----

// expected-error@+1 {{'tile.kernel' op entry block must have 1 arguments to match function signature}}
"tile.kernel"() <{sym_name = "no_arguments", function_type = (i32) -> (), num_warps = 4 : i32}> ({
^bb0:
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  tile.return
}) : () -> ()
// -----

// expected-error@+1 {{'tile.kernel' op must not return values}}
tile.kernel @results() -> i32 {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----

// expected-error@+1 {{'tile.kernel' op argument 0 is a shared buffer; arguments are global}}
tile.kernel @shared_argument(%s: !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>) {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----

// expected-error@+1 {{'tile.kernel' op argument 1 has type 'tensor<64xf32>'; expected a global buffer, f16, bf16, f32, f64, i1, i32, i64 or index}}
tile.kernel @argument(%x: f32, %t: tensor<64xf32>) {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----

// expected-error@+1 {{'tile.kernel' op argument 0 has type 'i8'; expected a global buffer, f16, bf16, f32, f64, i1, i32, i64 or index}}
tile.kernel @narrow_argument(%x: i8) {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----

// expected-error@+1 {{'tile.kernel' op argument 0 has type 'ui32'; expected a global buffer, f16, bf16, f32, f64, i1, i32, i64 or index}}
tile.kernel @unsigned_argument(%x: ui32) {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----

tile.kernel @condition_in_grid(%flag: i1) {
  %c1 = arith.constant 1 : index
  %blocks = arith.index_castui %flag : i1 to index
  // expected-error@+1 {{'tile.grid' op depends on argument 0 of type i1, which the manifest cannot express}}
  tile.grid %blocks, %c1, %c1
}

// -----

// expected-error@+1 {{'tile.kernel' op has 257 warps; a cluster has at most 256}}
tile.kernel @many_warps() attributes {num_warps = 257 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----

// expected-error@+1 {{custom op 'tile.kernel' 'tile.kernel' op attribute 'num_warps' failed to satisfy constraint: 32-bit signless integer attribute whose value is positive}}
tile.kernel @no_warps() attributes {num_warps = 0 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----

// expected-error@+1 {{custom op 'tile.kernel' 'tile.kernel' op attribute 'num_warps' failed to satisfy constraint: 32-bit signless integer attribute whose value is positive}}
tile.kernel @type_of_warps() attributes {num_warps = i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----

// expected-error@+1 {{custom op 'tile.kernel' 'tile.kernel' op attribute 'num_warps' failed to satisfy constraint: 32-bit signless integer attribute whose value is positive}}
tile.kernel @width_of_warps() attributes {num_warps = 4 : i64} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----

// expected-error@+1 {{invalid properties {function_type = () -> (), num_warps = i32, sym_name = "type_of_property"} for op tile.kernel: Invalid attribute `num_warps` in property conversion: i32}}
"tile.kernel"() <{sym_name = "type_of_property", function_type = () -> (), num_warps = i32}> ({
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  tile.return
}) : () -> ()

// -----

// expected-error@+1 {{'tile.kernel' op type of entry block argument #0('i64') must match the type of the corresponding argument in function signature('i32')}}
"tile.kernel"() <{sym_name = "signature", function_type = (i32) -> (), num_warps = 4 : i32}> ({
^bb0(%x: i64):
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  tile.return
}) : () -> ()

// -----

// expected-error@+1 {{'tile.kernel' op needs exactly one tile.grid at the top level of its body, found 0}}
tile.kernel @no_grid() {
  tile.return
}

// -----

// expected-error@+1 {{'tile.kernel' op needs exactly one tile.grid at the top level of its body, found 2}}
tile.kernel @two_grids() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  tile.grid %c1, %c1, %c1
}

// -----

// expected-error@+1 {{'tile.kernel' op expects region #0 to have 0 or 1 blocks}}
tile.kernel @two_blocks() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  cf.br ^bb1
^bb1:
  tile.return
}

// -----

func.func @grid_elsewhere(%n: index) {
  // expected-error@+1 {{'tile.grid' op expects parent op 'tile.kernel'}}
  tile.grid %n, %n, %n
  return
}

// -----

func.func @return_elsewhere() {
  // expected-error@+1 {{'tile.return' op expects parent op 'tile.kernel'}}
  tile.return
}

// -----

!b = !tile.buffer<?x64xf32, #tile.strided<[64, 1]>, global>
tile.kernel @grid_of_slice(%b: !b) {
  %c1 = arith.constant 1 : index
  %s = tile.slice %b[*, %c1] : !b to !tile.buffer<?xf32, #tile.strided<[64]>, global>
  %n = tile.dim %s[0] : !tile.buffer<?xf32, #tile.strided<[64]>, global>
  %blocks = arith.ceildivui %n, %c1 : index
  // expected-error@+1 {{'tile.grid' op depends on the extent of a buffer that is no argument of the kernel}}
  tile.grid %blocks, %c1, %c1
}

// -----

tile.kernel @grid_of_shift(%n: index) {
  %c1 = arith.constant 1 : index
  // expected-note@+1 {{used here}}
  %half = arith.shrui %n, %c1 : index
  %blocks = arith.addi %half, %c1 : index
  // expected-error@+1 {{'tile.grid' op depends on 'arith.shrui', which the manifest cannot express}}
  tile.grid %blocks, %c1, %c1
}

// -----

tile.kernel @grid_of_float(%x: f32) {
  %c1 = arith.constant 1 : index
  // expected-note@+1 {{used here}}
  %i = arith.fptosi %x : f32 to i32
  %n = arith.index_cast %i : i32 to index
  // expected-error@+1 {{'tile.grid' op depends on 'arith.fptosi', which the manifest cannot express}}
  tile.grid %n, %c1, %c1
}

// -----

!b = !tile.buffer<?x64xf32, #tile.strided<[64, 1]>, global>
tile.kernel @dimension(%b: !b) {
  // expected-error@+1 {{'tile.dim' op dimension 2 does not exist in a buffer of rank 2}}
  %n = tile.dim %b[2] : !b
  tile.grid %n, %n, %n
}

// -----

!b = !tile.buffer<?x64xf32, #tile.strided<[64, 1]>, global>
tile.kernel @negative_dimension(%b: !b) {
  // expected-error@+1 {{'tile.dim' op dimension -1 does not exist in a buffer of rank 2}}
  %n = tile.dim %b[-1] : !b
  tile.grid %n, %n, %n
}

// -----

tile.kernel @axis() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error@+1 {{custom op 'tile.program_id' expected string or keyword containing one of the following enum values for attribute 'axis' [x, y, z]}}
  %w = tile.program_id w
}

// -----

// expected-error@+1 {{'tile.kernel' op has the unknown attribute "tile.shared_bytes"}}
tile.kernel @shared_bytes() attributes {tile.shared_bytes = 1024 : i64} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----

// expected-error@+1 {{attribute 'shared_bytes' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
tile.kernel @negative_bytes() attributes {shared_bytes = -1 : i64} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----

// expected-error@+1 {{'tile.kernel' op has the unknown attribute "tile.positive" of argument 1}}
tile.kernel @unknown_argument(%x: f32, %y: f32 {tile.positive}) {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----

// expected-error@+1 {{'tile.kernel' op has the attribute "tile.name" of argument 0, which must be a string, got 1 : i64}}
tile.kernel @name(%x: f32 {tile.name = 1 : i64}) {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----

// expected-error@+1 {{'func.func' op has the attribute "tile.nonnegative" of argument 0, which must be a unit attribute, got "yes"}}
func.func @nonnegative(%x: f32 {tile.nonnegative = "yes"}) {
  return
}
