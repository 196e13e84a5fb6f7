" scripts/update-grammar.py generates this file. It extends the syntax file of
" MLIR in LLVM (mlir/utils/vim/syntax/mlir.vim).

syn match tileOperation /\<tile\.\%(alloc\|arrive_barrier\|assert\|associative_scan\|associative_scan_in_warps\|atomic_rmw\|attention\|attention_backward\|await\|await_turn\|barrier\|broadcast\|broadcast_in_warps\|bulk_add\|bulk_copy\|bulk_prefetch\|bulk_reduce\|bulk_store\|bulk_wait\|cluster_rank\|cluster_reduce\|commit_group\|concatenate\|consumer_group\|convert_layout\|copy\|dim\|dot\|extract\|fence_async\|gather\|grid\|include_schedules\|init_barriers\|iota\|join_associative_scans\|join_scans\|kernel\|kernel_row\|launch_dependents\|load\|load_scalar\|masked_load\|matmul\|multiprocessors\|narrow\|num_programs\|paged\|param\|pass_turn\|print\|program_id\|recompute\|reduce\|reduce_in_threads\|reduce_in_warps\|require\|reshape\|return\|ring.acquire\|ring.create\|ring.publish\|ring.release\|ring.skip\|ring.take\|scan\|scan_in_warps\|schedule_barrier\|schedule_row\|slice\|store\|transpose\|unit_triangular_inverse\|wait_barrier\|wait_group\|wait_prerequisites\|warp_roles\|yield\)\>\.\@!/
syn match tileOperation /\<tile_gpu\.\%(atomic_rmw\|buffer_atomic_rmw\|buffer_load\|buffer_store\|commit_copies\|fail\|manifest\|matrix_descriptor\|mma\|recompute\|thread\|wait_copies\|wgmma\|wgmma_fence\|wgmma_wait\)\>\.\@!/
syn match tileLayout /#tile\.\%(blocked\|dot_operand\|kernel_pattern\|layout\|map\|mma\|open\|padded\|permute\|schedule\|slice\|strided\|swizzle\)\>\.\@!/
syn match tileBuffer /!tile\.\%(buffer\|pending\|ring\|slot\)\>\.\@!/
syn keyword tileKeyword acq_rel acquire add along as async at_least at_most atomic bf16x3 block by cache counts device dims dlse dq_acc ends epilogue equal evict_first evict_last fenced fills from global groups in key_lengths kv_acc length lse mask max multiple_of offset order other pages parts phase precision queries read registers relaxed release reverse scale scope separate seqlens shared sink sizes softcap system tf32 to tree_mask use using warps window with within works

hi def link tileOperation Function
hi def link tileLayout Type
hi def link tileBuffer Type
hi def link tileKeyword Keyword
