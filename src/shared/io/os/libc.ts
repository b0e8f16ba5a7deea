// The C functions that Node lacks. This is the only place that declares them.
// Invariant: constants and layouts used in this folder are those of 64-bit little-endian Linux (x64, arm64), where they
// are the same; every failed call becomes an OsCallError with the errno of that very call.

import { createRequire } from "node:module";
import type koffi from "koffi";
import { OsCallError, NativeBindingError } from "./errors.js";
type Bytes = Uint8Array | null;

/** Signatures as called from JavaScript; all return -1 on failure. */
interface Libc {
  flock(fd: number, operation: number): number;
  inotify_init1(flags: number): number;
  inotify_add_watch(fd: number, path: string, mask: number): number;
  inotify_rm_watch(fd: number, watch: number): number;
  close(fd: number): number;
  /** Fills two 32-bit words: read end, write end. */
  pipe2(ends: Uint8Array, flags: number): number;
  dup3(from: number, to: number, flags: number): number;
  eventfd(initial: number, flags: number): number;
  fcntl(fd: number, command: number, argument: number): number;
  socket(domain: number, type: number, protocol: number): number;
  sendto(fd: number, bytes: Uint8Array, length: number, flags: number, to: Uint8Array, toLength: number): number;
  prlimit(pid: number, resource: number, set: Bytes, old: Bytes): number;
  execve(file: string, argv: readonly (string | null)[], envp: readonly (string | null)[]): number;
  mount(source: string | null, target: string, type: string | null, flags: number, data: string | null): number;
  umount2(target: string, flags: number): number;
  setns(fd: number, type: number): number;
  lseek(fd: number, offset: bigint, whence: number): number;
  /** Variadic in C; declared for getdents64(2), which not every C library names. */
  syscall(number: number, fd: number, bytes: Uint8Array, length: number): number;
  /** syscall(2) with the arguments of quotactl_fd(2), which no C library names. */
  quotactl_fd(number: number, fd: number, command: number, id: number, out: Uint8Array): number;
  /** syscall(2) with the arguments of renameat2(2), which not every C library names. */
  renameat2(number: number, fromFd: number, from: string, toFd: number, to: string, flags: number): number;
  ioctl(fd: number, request: number, argument: Uint8Array): number;
  madvise(address: number, length: number, advice: number): number;
  /** glibc only. 1: memory went back to the kernel; 0: there was none. */
  malloc_trim(keep: number): number;
}

export type LibcCall = keyof Libc;

/** fcntl, ioctl and syscall are variadic in C; with integers and pointers the calling convention is the same. */
const DECLARATIONS: Readonly<Record<LibcCall, string>> = {
  flock: "int flock(int fd, int operation)",
  inotify_init1: "int inotify_init1(int flags)",
  inotify_add_watch: "int inotify_add_watch(int fd, const char *path, uint32_t mask)",
  inotify_rm_watch: "int inotify_rm_watch(int fd, int watch)",
  close: "int close(int fd)",
  pipe2: "int pipe2(void *ends, int flags)",
  dup3: "int dup3(int from, int to, int flags)",
  eventfd: "int eventfd(unsigned int initial, int flags)",
  fcntl: "int fcntl(int fd, int command, long argument)",
  socket: "int socket(int domain, int type, int protocol)",
  sendto: "intptr_t sendto(int fd, const void *bytes, size_t length, int flags, const void *to, uint32_t to_length)",
  prlimit: "int prlimit(int pid, int resource, const void *set, void *old)",
  execve: "int execve(const char *file, const char **argv, const char **envp)",
  mount: "int mount(const char *source, const char *target, const char *type, ulong flags, const char *data)",
  umount2: "int umount2(const char *target, int flags)",
  setns: "int setns(int fd, int type)",
  lseek: "int64_t lseek(int fd, int64_t offset, int whence)",
  syscall: "int64_t syscall(int64_t number, int fd, void *bytes, size_t length)",
  quotactl_fd: "int64_t syscall(int64_t number, int fd, uint32_t command, int id, _Inout_ void *out)",
  renameat2:
    "int64_t syscall(int64_t number, int from_fd, const char *from, int to_fd, const char *to, uint32_t flags)",
  ioctl: "int ioctl(int fd, ulong request, _Inout_ void *argument)",
  madvise: "int madvise(uintptr_t address, size_t length, int advice)",
  malloc_trim: "int malloc_trim(size_t keep)",
};

type Callable = ReturnType<ReturnType<typeof load>["func"]>;

const functions = new Map<LibcCall, Callable>();
let library: ReturnType<typeof load> | undefined;

/** The C library this very process runs on, glibc or musl. */
const load = (): ReturnType<ReturnType<typeof binding>["load"]> => binding().load(null);

function declared(call: LibcCall): Callable {
  let callable = functions.get(call);
  if (callable === undefined) {
    library ??= load();
    callable = library.func(DECLARATIONS[call]);
    functions.set(call, callable);
  }
  return callable;
}

/**
 * Calls at once, in this thread: only for calls that cannot block.
 * @param about For the error: "lock file /run/kubelet.lock".
 * @throws OsCallError, NativeBindingError
 */
export function libc<Call extends LibcCall>(call: Call, about: string, ...args: Parameters<Libc[Call]>): number {
  const result = declared(call)(...(args as unknown[])) as number;
  if (result === -1) throw new OsCallError(call, binding().errno(), about);
  return result;
}

/**
 * Calls on a thread of libuv's pool, which it holds until the call returns; it cannot be cancelled. For calls that may
 * take a moment (mount), not for those that may wait for ever (flock). Rejects as `libc` throws.
 */
export function libcOnPool<Call extends LibcCall>(
  call: Call,
  about: string,
  ...args: Parameters<Libc[Call]>
): Promise<number> {
  return new Promise((resolve, reject) => {
    const settle = (error: unknown, result: number): void => {
      if (error !== null && error !== undefined) {
        reject(error instanceof Error ? error : new Error(`${call}(2) of ${about} was not made`, { cause: error }));
      } else if (result === -1) reject(new OsCallError(call, binding().errno(), about));
      else resolve(result);
    };
    declared(call).async(...(args as unknown[]), settle);
  });
}

// The binding below this folder, loaded at the first system call: a thread that makes none pays nothing.
// Invariant: no other folder uses koffi.
type Binding = typeof koffi;

let loaded: Binding | undefined;

/** Throws NativeBindingError. The first call of a thread reads the binding from disk (some ms): make it at start-up. */
function binding(): Binding {
  if (loaded !== undefined) return loaded;
  try {
    // Not import(): callers such as flock are synchronous, and CommonJS loads in half the time.
    loaded = createRequire(import.meta.url)("koffi") as Binding;
    return loaded;
  } catch (error) {
    throw new NativeBindingError(error);
  }
}
