// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{#tile.open<BM> has 1 names for 2 open extents}}
func.func private @f(tensor<?x?xf32, #tile.open<BM>>)

// -----
// expected-error@+1 {{#tile.open<> has 0 names for 0 open extents}}
func.func private @f(tensor<64xf32, #tile.open<>>)

// -----
// expected-error@+1 {{extents must be positive, got 0}}
func.func private @f(tensor<0x?xf32, #tile.open<BM>>)

// -----
tile.kernel @f() {
  // expected-error@+1 {{'tile.param' op lists no value for 'BM'}}
  %bm = tile.param BM in []
  tile.grid %bm, %bm, %bm
}

// -----
tile.kernel @f() {
  // expected-error@+1 {{'tile.param' op values lie in 1 .. 1048576, got 0}}
  %bm = tile.param BM in [64, 0]
  tile.grid %bm, %bm, %bm
}

// -----
tile.kernel @f() {
  // expected-error@+1 {{'tile.param' op lists the value 64 twice}}
  %bm = tile.param BM in [64, 32, 64]
  tile.grid %bm, %bm, %bm
}

// -----
tile.kernel @f() {
  // expected-error@+1 {{'tile.param' op has the name '2 B'; a name consists of letters, digits and '_', and does not begin with a digit}}
  %bm = "tile.param"() {parameter = "2 B", values = array<i64: 1>} : () -> index
  tile.grid %bm, %bm, %bm
}

// -----
func.func @f() {
  // expected-error@+1 {{'tile.param' op expects parent op to be one of 'tile.kernel, tile.matmul'}}
  %bm = tile.param BM in [64]
  return
}

// -----
tile.kernel @f() {
  // expected-note@+1 {{defined here}}
  %bm = tile.param BM in [64]
  // expected-error@+1 {{'tile.param' op is a second parameter 'BM'}}
  %bn = tile.param BM in [32]
  tile.grid %bm, %bn, %bm
}

// -----
tile.kernel @f() {
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{'tile.param' op defines 'BM', which is neither an extent of a tile nor used}}
  %bm = tile.param BM in [64]
  tile.grid %c1, %c1, %c1
}

// -----
!b = !tile.buffer<?xf32, #tile.strided<[1]>, global>
tile.kernel @f(%b: !b) {
  %bm = tile.param BM in [64]
  %bn = tile.param BN in [64]
  tile.grid %bm, %bn, %bm
  // expected-error@+1 {{'tile.load' op names the extent 'BQ', which is no parameter of the kernel; it has BM, BN}}
  %t = tile.load %b[%bm] : !b -> tensor<?xf32, #tile.open<BQ>>
}

// -----
!b = !tile.buffer<?xf32, #tile.strided<[1]>, global>
tile.kernel @f(%b: !b) {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error@+1 {{'tile.load' op names the extent 'BQ', which is no parameter of the kernel; it has none}}
  %t = tile.load %b[%c1] : !b -> tensor<?xf32, #tile.open<BQ>>
}

// -----
// expected-error@+1 {{'tile.kernel' op has a schedule with a value of 'BN', which is no parameter of the kernel; it has BM}}
tile.kernel @f() attributes {schedule = #tile.schedule<params = {BN = 64}>} {
  %bm = tile.param BM in [64]
  tile.grid %bm, %bm, %bm
}

// -----
// expected-error@+1 {{'tile.kernel' op has a schedule with 'BM = 96'; its values are 64, 128}}
tile.kernel @f() attributes {schedule = #tile.schedule<params = {BM = 96}>} {
  // expected-note@+1 {{defined here}}
  %bm = tile.param BM in [64, 128]
  tile.grid %bm, %bm, %bm
}

// -----
// expected-error@+1 {{'tile.kernel' op 'extents' must be numbers, got "BM" = "x"}}
tile.kernel @f() attributes {extents = {BM = "x"}} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----
tile.kernel @f() {
  %bm = tile.param BM in [64]
  %bn = tile.param BN in [64]
  tile.grid %bm, %bm, %bm
  %f0 = arith.constant 0.0 : f32
  // expected-error@+1 {{'tensor.splat' op expected the parameter 'BM' as a size of 'tensor<?x?xf32, #tile.open<BM, BN>>', got 'BN'}}
  %zero = tensor.splat %f0[%bn, %bm] : tensor<?x?xf32, #tile.open<BM, BN>>
}

// -----
tile.kernel @f() {
  %bm = tile.param BM in [64]
  %c64 = arith.constant 64 : index
  tile.grid %bm, %bm, %bm
  %f0 = arith.constant 0.0 : f32
  // expected-error@+1 {{'tensor.splat' op expected the parameter 'BM' as a size of 'tensor<?xf32, #tile.open<BM>>', got another value}}
  %zero = tensor.splat %f0[%c64] : tensor<?xf32, #tile.open<BM>>
}

// -----
tile.kernel @f() {
  %bm = tile.param BM in [64]
  %bn = tile.param BN in [64]
  tile.grid %bm, %bn, %bm
  %f0 = arith.constant 0.0 : f32
  %zero = tensor.splat %f0[%bm] : tensor<?xf32, #tile.open<BM>>
  // expected-error@+1 {{'arith.truncf' op operand type 'tensor<?xf32, #tile.open<BM>>' and result type 'tensor<?xf16, #tile.open<BN>>' are cast incompatible}}
  %half = arith.truncf %zero : tensor<?xf32, #tile.open<BM>> to tensor<?xf16, #tile.open<BN>>
}

// -----
tile.kernel @f() {
  %bm = tile.param BM in [64]
  %bn = tile.param BN in [64]
  tile.grid %bm, %bn, %bm
  %f0 = arith.constant 0.0 : f32
  %zero = tensor.splat %f0[%bm] : tensor<?xf32, #tile.open<BM>>
  %i = tile.iota along 0 : tensor<?xi32, #tile.open<BN>>
  // expected-error@+1 {{'math.fpowi' op mixes tiles of different extents, BM and BN}}
  %power = math.fpowi %zero, %i : tensor<?xf32, #tile.open<BM>>, tensor<?xi32, #tile.open<BN>>
}

// -----
!b = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
tile.kernel @f(%b: !b) {
  %bm = tile.param BM in [64]
  %bn = tile.param BN in [64]
  tile.grid %bm, %bn, %bm
  %t = tile.load %b[%bm, %bm] : !b -> tensor<?x?xf16, #tile.open<BM, BN>>
  %f0 = arith.constant 0.0 : f32
  %zero = tensor.splat %f0[%bm, %bm] : tensor<?x?xf32, #tile.open<BM, BM>>
  // expected-error@+1 {{'tile.dot' op contracts BN columns of a with BM rows of b}}
  %d = tile.dot %t, %t, %zero : tensor<?x?xf16, #tile.open<BM, BN>>, tensor<?x?xf16, #tile.open<BM, BN>>
       -> tensor<?x?xf32, #tile.open<BM, BM>>
}

// -----
!b = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
tile.kernel @f(%b: !b) {
  %bm = tile.param BM in [64]
  %bn = tile.param BN in [64]
  tile.grid %bm, %bn, %bm
  %t = tile.load %b[%bm, %bm] : !b -> tensor<?x64xf16, #tile.open<BM>>
  %u = tile.load %b[%bm, %bm] : !b -> tensor<64x32xf16>
  %f0 = arith.constant 0.0 : f32
  %zero = tensor.splat %f0[%bn] : tensor<?x32xf32, #tile.open<BN>>
  // expected-error@+1 {{'tile.dot' op expected an accumulator of BMx32, got BNx32}}
  %d = tile.dot %t, %u, %zero : tensor<?x64xf16, #tile.open<BM>>, tensor<64x32xf16>
       -> tensor<?x32xf32, #tile.open<BN>>
}

// -----
tile.kernel @f() {
  %bm = tile.param BM in [64]
  %bn = tile.param BN in [64]
  tile.grid %bm, %bn, %bm
  %f0 = arith.constant 0.0 : f32
  %zero = tensor.splat %f0[%bm] : tensor<?x32xf32, #tile.open<BM>>
  // expected-error@+1 {{'tile.reduce' op expected a tile of shape [BM] beside [BM, 32] without dimension 1, got [BN]}}
  %r = tile.reduce addf %zero along 1 : tensor<?x32xf32, #tile.open<BM>> -> tensor<?xf32, #tile.open<BN>>
}

// -----
tile.kernel @f() {
  %bm = tile.param BM in [64]
  %bn = tile.param BN in [64]
  tile.grid %bm, %bn, %bm
  %f0 = arith.constant 0.0 : f32
  %zero = tensor.splat %f0[%bm, %bn] : tensor<?x?xf32, #tile.open<BM, BN>>
  // expected-error@+1 {{'tile.transpose' op dimension 0 of the result must have the extent BN, got BM}}
  %t = tile.transpose %zero [1, 0] : tensor<?x?xf32, #tile.open<BM, BN>> -> tensor<?x?xf32, #tile.open<BM, BN>>
}

// -----
!s = !tile.buffer<64xf32, #tile.strided<[1]>, shared>
tile.kernel @f() {
  %bm = tile.param BM in [64]
  tile.grid %bm, %bm, %bm
  %c0 = arith.constant 0 : index
  %s = tile.alloc : !s
  // expected-error@+1 {{'tile.load' op moves a tile with open extents in shared memory}}
  %t = tile.load %s[%c0] : !s -> tensor<?xf32, #tile.open<BM>>
}
