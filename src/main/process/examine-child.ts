// Entry of the process that examines a configuration for a running kubelet. The main thread must not do a large parse.
// Reads {argv, files} from standard input, writes an Examination to standard output.

import { text } from "node:stream/consumers";
import type { ConfigFiles } from "./dynamic-config/config-files.js";
import { examine } from "./dynamic-config/examine.js";
import { commandIo } from "./unix/command-io.js";

// Not at the top level: the bundle's modules are functions.
async function main(): Promise<void> {
  const { argv, files } = JSON.parse(await text(process.stdin)) as { argv: string[]; files: ConfigFiles };
  process.stdout.write(JSON.stringify(await examine(argv, files, commandIo, "all problems")));
}

void main();
