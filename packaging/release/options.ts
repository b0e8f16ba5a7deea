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
  /** Instead of the version in package.json. */
  version: string | undefined;
}

const USAGE = "usage: [--arch amd64,arm64] [--formats deb,rpm,tar] [--out DIR] [--version 1.2.3]";

/** @throws SetupProblem for words that it does not know. */
export function readReleaseOptions(words: readonly string[], root: string): ReleaseOptions {
  const { arch, formats, out, version } = parse(words);
  if (version !== undefined && !/^\d+(\.\d+)*$/.test(version)) {
    throw new SetupProblem(`--version ${JSON.stringify(version)}: digits and dots are needed`);
  }
  return {
    architectures: list("--arch", arch, ARCHITECTURES),
    formats: list("--formats", formats, FORMATS),
    out: resolve(root, out ?? "dist/packages"),
    version,
  };
}

function parse(words: readonly string[]) {
  try {
    const option = { type: "string" } as const;
    return parseArgs({ args: [...words], options: { arch: option, formats: option, out: option, version: option } })
      .values;
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
