/* Default AddressSanitizer options of a build with TILE_SANITIZE.
   The environment variable ASAN_OPTIONS overrides them. */

const char *__asan_default_options(void);
const char *__asan_default_options(void) {
  /* LLVM's headers poison allocator memory that LLVM's libraries use; these
     libraries are not instrumented. Executor threads that never end would keep
     their fake stack frames forever. */
  return "allow_user_poisoning=0:detect_stack_use_after_return=0";
}
