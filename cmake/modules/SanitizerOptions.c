/* Options of AddressSanitizer for programs of a build with TILE_SANITIZE.
   ASAN_OPTIONS overrides them. */

const char *__asan_default_options(void);
const char *__asan_default_options(void) {
  /* LLVM's headers poison memory of allocators that LLVM's libraries, which are
     not instrumented, then use. Stacks of the executor's threads that never
     end would keep their fake frames for good. */
  return "allow_user_poisoning=0:detect_stack_use_after_return=0";
}
