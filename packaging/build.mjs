// `npm run build`: compiles everything, checks the types of the status page, bundles, and stamps dist.
// The stamp tells `npm test`, `npm start` and `npm pack` that dist has these sources, so that they build nothing.
// Invariant: the state is read before the compilation; a source that changes meanwhile is compiled by the next command.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { beginBuild, endBuild, root, sourceState } from "./bootstrap.mjs";

const tsc = join("node_modules", "typescript", "bin", "tsc");
const STEPS = [[tsc, "-p", "tsconfig.json"], [tsc, "-p", join("src", "page")], [join("packaging", "bundle.mjs")]];

const state = sourceState();
beginBuild(state);
for (const step of STEPS) {
  const { status, error } = spawnSync(process.execPath, step, { cwd: root, stdio: "inherit" });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
endBuild(state);
