// malloc's free memory. Threads share one arena (MALLOC_ARENA_MAX=1), and glibc by itself gives back only the end of
// it. So a small allocation keeps all free memory below it resident.

import { libcOnPool } from "./libc.js";

/**
 * Returns the whole free pages of malloc to the kernel, in any part of the arena. Takes 1 to 2 ms on a thread of
 * libuv's pool; other threads that allocate wait meanwhile. Source: malloc_trim(3).
 * @throws NativeBindingError; an Error where the C library has no such function (musl)
 */
export async function releaseFreeMemory(): Promise<void> {
  await libcOnPool("malloc_trim", "malloc's free memory", 0);
}
