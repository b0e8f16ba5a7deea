// V8's code cache for the Node that the package carries (docs/adr/0057), the same bytes in every build (docs/adr/0062).

import { cp, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../standalone/exec.js";

/**
 * V8's random numbers and its garbage collector would leave traces in the cache. So these set a fixed seed, no
 * collector threads, and a young generation so large that V8 does not collect it. None of these flags is among those
 * the cache holds for.
 */
const REPRODUCIBLE = [
  ...["--random-seed=1", "--single-threaded-gc"],
  ...["--max-semi-space-size=128", "--min-semi-space-size=128"],
];
/**
 * Caches that one process makes. A collection of the whole heap begins by the amount of code and ends by the clock.
 * What is compiled after it lies where other objects were, and V8 copies unused bytes into the cache: a process ends
 * before that.
 */
const OF_ONE_PROCESS = 48;
const TIMEOUT_MS = 5 * 60_000;

/** Writes the caches beside the scripts of `agent` with `node`, which must run on this machine. */
export async function makeReproducibleCache(node: string, agent: string): Promise<void> {
  // Neither the environment nor the length of a path may differ: they move V8's heap.
  const place = await mkdtemp("/tmp/nodelet-code-cache-");
  try {
    const copy = join(place, "agent");
    await cp(agent, copy, { recursive: true });
    const script = [join(copy, "make-cache.js"), copy, String(OF_ONE_PROCESS)];
    for (let made = OF_ONE_PROCESS; made === OF_ONE_PROCESS;) {
      const printed = await run("env", ["-i", "-C", "/", node, ...REPRODUCIBLE, ...script], { timeoutMs: TIMEOUT_MS });
      made = Number(printed);
    }
    await cp(copy, agent, { recursive: true, filter: (path) => !/\.js$/.test(path) });
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}
