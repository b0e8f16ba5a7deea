// The limit of open files of this process (RLIMIT_NOFILE), read and set by prlimit(2).

import { libc } from "./libc.js";

const RLIMIT_NOFILE = 7;
const UNLIMITED = 2n ** 64n - 1n;
const THIS_PROCESS = 0;
const ABOUT = "the limit of open files";

/** Whole numbers, or Infinity. */
export interface Rlimit {
  /** The limit in force. */
  soft: number;
  /** The maximum of the soft limit without CAP_SYS_RESOURCE. */
  hard: number;
}

export function openFilesLimit(): Rlimit {
  const pair = new BigUint64Array(2);
  libc("prlimit", ABOUT, THIS_PROCESS, RLIMIT_NOFILE, null, new Uint8Array(pair.buffer));
  const [soft = 0n, hard = 0n] = [...pair].map((word) => (word === UNLIMITED ? Infinity : Number(word)));
  return { soft: Number(soft), hard: Number(hard) };
}

/** Holds for all threads. @throws OsCallError: EPERM when hard is above the kernel's limit, EINVAL for soft > hard */
export function setOpenFilesLimit(limit: Rlimit): void {
  const word = (value: number): bigint => (value === Infinity ? UNLIMITED : BigInt(value));
  const pair = BigUint64Array.of(word(limit.soft), word(limit.hard));
  libc("prlimit", ABOUT, THIS_PROCESS, RLIMIT_NOFILE, new Uint8Array(pair.buffer), null);
}
