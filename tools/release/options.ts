// The command line of `make packages`.

import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { messageOf, SetupProblem } from "../standalone/problem.js";
import { ARCHITECTURES, type Architecture } from "./pins.js";

const FORMATS = ["deb", "rpm", "tar"] as const;
export type Format = (typeof FORMATS)[number];

export interface ReleaseOptions {
  architectures: readonly Architecture[];
  formats: readonly Format[];
  /** Folder of the packages. */
  out: string;
  /** Instead of that of the sources (package-version.ts). */
  version: string | undefined;
  /** Compressed quickly, for tests. */
  fast?: boolean;
}

const USAGE = "usage: [--arch amd64,arm64] [--formats deb,rpm,tar] [--out DIR] [--version 1.2.3] [--fast]";

/** @throws SetupProblem for words that it does not know. */
export function readReleaseOptions(words: readonly string[], root: string): ReleaseOptions {
  const { arch, formats, out, version, fast = false } = parse(words);
  if (version !== undefined && !/^\d+(\.\d+)*$/.test(version)) {
    throw new SetupProblem(`--version ${JSON.stringify(version)}: digits and dots are needed`);
  }
  return {
    architectures: list("--arch", arch, ARCHITECTURES),
    formats: list("--formats", formats, FORMATS),
    out: resolve(root, out ?? "dist/packages"),
    version,
    fast,
  };
}

function parse(words: readonly string[]) {
  try {
    const option = { type: "string" } as const;
    const options = { arch: option, formats: option, out: option, version: option, fast: { type: "boolean" } } as const;
    return parseArgs({ args: [...words], options }).values;
  } catch (error) {
    throw new SetupProblem(`${messageOf(error)}; ${USAGE}`);
  }
}

function list<T extends string>(flag: string, text: string | undefined, known: readonly T[]): readonly T[] {
  if (text === undefined || text === "") return known;
  return text.split(",").map((word) => {
    const found = known.find((one) => one === word);
    if (found === undefined) throw new SetupProblem(`${flag}: ${word} is not one of ${known.join(", ")}`);
    return found;
  });
}
