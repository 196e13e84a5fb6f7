// Aliases that examples in descriptions use without a definition. code_blocks.py adds
// those that a block lacks.

// Layouts.
#mma = #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>
#a = #tile.dot_operand<0, #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>>
#dot_a = #tile.dot_operand<0, #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>>
#dot_b = #tile.dot_operand<1, #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>>
#blocked = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>

// Buffers in global memory: [B, S, H, D], and the rows of one batch and head.
!q = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!o = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!qh = !tile.buffer<?x128xf16, #tile.strided<[?:8, 1], align = 16>, global>
!qs = !tile.buffer<?x128xf16, #tile.strided<[?:8, 1], align = 16>, global>
!kh = !tile.buffer<?x128xf16, #tile.strided<[?:8, 1], align = 16>, global>
!oh = !tile.buffer<?x128xf16, #tile.strided<[?:8, 1], align = 16>, global>
!b = !tile.buffer<?x128xf16, #tile.strided<[?:8, 1], align = 16>, global>
!dqh = !tile.buffer<?x128xf32, #tile.strided<[128, 1], align = 16>, global>
!packed = !tile.buffer<?x?x128xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!rows = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
!xh = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
!logits = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
!table = !tile.buffer<?x128xf16, #tile.strided<[128, 1], align = 16>, global>
!lse = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!o_parts = !tile.buffer<?x?x?x?x128xf32, #tile.strided<[?:8, ?:8, ?:8, ?:8, 1], align = 16>, global>
!lse_parts = !tile.buffer<?x?x?x?xf32, #tile.strided<[?, ?, ?, 1]>, global>
!stats = !tile.buffer<?x?x2x?xf32, #tile.strided<[?, ?, ?, 1]>, global>
!sink = !tile.buffer<?xf32, #tile.strided<[1]>, global>
!counters = !tile.buffer<128xi32, #tile.strided<[1]>, global>
!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>

// Caches of pages, and the pages of sequences.
!cache = !tile.buffer<?x16x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!pages = !tile.buffer<?x16x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!works_o = !tile.buffer<?x?x128xf32, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!works_lse = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
!works = !tile.buffer<?x5xi32, #tile.strided<[5, 1]>, global>
!lengths = !tile.buffer<?xi32, #tile.strided<[1]>, global>
!entries = !tile.buffer<?xi32, #tile.strided<[1]>, global>
!page_list = !tile.buffer<?xi32, #tile.strided<[1]>, global>
!tree = !tile.buffer<?x?x2xi32, #tile.strided<[?, 2, 1]>, global>
!page_table = !tile.buffer<?x?xi32, #tile.strided<[?, 1]>, global>

// Matrices, and a tile of sums with open extents.
!x = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!w = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!y = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!bias = !tile.buffer<?xf32, #tile.strided<[1], align = 16>, global>
!tokens = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!experts = !tile.buffer<?x?x?xbf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!out = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!ends = !tile.buffer<?xi32, #tile.strided<[1]>, global>
!sum = tensor<?x?xf32, #tile.open<BM, BN>>

// Buffers in shared memory.
!tile = !tile.buffer<128x64xf16, #tile.swizzle<128>, shared>
!stage = !tile.buffer<64x128xf16, #tile.swizzle<128>, shared>
!ring = !tile.buffer<2x64x128xf16, #tile.swizzle<128>, shared>
!sums = !tile.buffer<64x128xf32, #tile.padded<0, order = [1, 0]>, shared>
!barriers = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
