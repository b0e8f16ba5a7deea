// The flags of open(2), as Node takes them: words or numbers.

import { constants } from "node:fs";
import type { OpenFlags } from "../disk/tree.js";

const { O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_NOFOLLOW, O_DIRECTORY } = constants;
const O_PATH = 0o10000000;

const WORDS: Readonly<Record<string, number>> = {
  r: 0,
  "r+": O_RDWR,
  w: O_WRONLY | O_CREAT | O_TRUNC,
  wx: O_WRONLY | O_CREAT | O_TRUNC | O_EXCL,
  "w+": O_RDWR | O_CREAT | O_TRUNC,
  a: O_WRONLY | O_CREAT | O_APPEND,
  ax: O_WRONLY | O_CREAT | O_APPEND | O_EXCL,
  "a+": O_RDWR | O_CREAT | O_APPEND,
};

export function openFlags(flags: string | number = "r"): OpenFlags {
  const bits = typeof flags === "number" ? flags : WORDS[flags];
  if (bits === undefined) throw new TypeError(`no such flags of open: ${flags}`);
  const has = (bit: number): boolean => (bits & bit) !== 0;
  return {
    write: has(O_WRONLY) || has(O_RDWR),
    create: has(O_CREAT),
    exclusive: has(O_EXCL),
    truncate: has(O_TRUNC),
    append: has(O_APPEND),
    noFollow: has(O_NOFOLLOW),
    directory: has(O_DIRECTORY),
    isPath: has(O_PATH),
  };
}
