// A bench that a signal ends leaves nothing behind: neither processes nor folders, mounts, cgroups or a namespace.

import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { cgroupFolders } from "../../tools/standalone/cgroups.js";
import { netnsExists } from "../../tools/standalone/netns.js";
import { openRun, processesOfRun } from "../../tools/standalone/runs.js";
import { waitFor } from "../../tools/standalone/wait.js";

const PROGRAM = fileURLToPath(new URL("../support/fixtures/doomed-bench.js", import.meta.url));
/** Longer than the time in which two signals count as one. */
const BETWEEN_SIGNALS_MS = 1_200;

class Bench {
  private constructor(
    private readonly child: ChildProcess,
    /** Folder of all runs. */
    readonly base: string,
    private readonly run: string,
    private readonly cgroup: string,
    private readonly folder: string,
  ) {}

  /** Resolves when it measures. `foreign` is the pid of a process that keeps a cgroup of the run. */
  static async start(foreign?: number): Promise<Bench> {
    const tmp = await mkdtemp(join(process.env["NODELET_TEST_DIR"] ?? "", "b"));
    const args = [PROGRAM, ...(foreign === undefined ? [] : [String(foreign)])];
    const env = { ...process.env, TMPDIR: tmp };
    const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] });
    for await (const line of createInterface({ input: child.stdout })) {
      const [word, cgroup = "", folder = ""] = line.split(" ");
      if (word !== "measuring") continue;
      const base = join(tmp, "nodelet-runs");
      const [run = ""] = await readdir(base);
      return new Bench(child, base, join(base, run), cgroup, folder);
    }
    throw new Error("the bench ended before it measured");
  }

  async end(signal: NodeJS.Signals): Promise<number | null> {
    const exit = once(this.child, "exit");
    this.child.kill(signal);
    const [status] = (await exit) as [number | null];
    return status;
  }

  signal(signal: NodeJS.Signals): boolean {
    return this.child.kill(signal);
  }

  get status(): number | undefined {
    return this.child.exitCode ?? undefined;
  }

  /** Parts of the run that are left. */
  async left(): Promise<string[]> {
    const found = [
      ["processes", (await processesOfRun(this.run)).length > 0],
      ["folder of the run", existsSync(this.run)],
      ["folder in memory", existsSync(this.folder)],
      ["cgroup", (await cgroupFolders(this.cgroup)).length > 0],
      ["network namespace", await netnsExists(`nodelet-${basename(this.run)}-doomed`)],
    ] as const;
    return found.filter(([, isThere]) => isThere).map(([what]) => what);
  }
}

const ALL = ["processes", "folder of the run", "folder in memory", "cgroup", "network namespace"];

describe("a bench that is ended from outside", () => {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    test(`removes all that it made after ${signal}`, async () => {
      const bench = await Bench.start();
      assert.deepEqual(await bench.left(), ALL);
      assert.equal(await bench.end(signal), 130);
      assert.deepEqual(await bench.left(), []);
    });
  }

  test("leaves everything to the next run after SIGKILL", async () => {
    const bench = await Bench.start();
    assert.equal(await bench.end("SIGKILL"), null);
    assert.deepEqual(await bench.left(), ALL);
    const next = await openRun(() => undefined, bench.base);
    assert.deepEqual(await bench.left(), []);
    await next.remove();
  });

  test("ends at once after a second signal, even if something cannot be removed", async (t) => {
    const foreign = spawn("sleep", ["3600"], { stdio: "ignore" });
    t.after(() => foreign.kill("SIGKILL"));
    const bench = await Bench.start(foreign.pid);
    // Its cgroup stays busy, so the removal waits for a minute.
    await waitFor(() => bench.status ?? (bench.signal("SIGTERM"), undefined), {
      what: "the bench to end",
      timeoutMs: 20_000,
      intervalMs: BETWEEN_SIGNALS_MS,
    });
    assert.equal(bench.status, 130);
    assert.ok((await bench.left()).includes("cgroup"));
    foreign.kill("SIGKILL");
    const next = await openRun(() => undefined, bench.base);
    assert.deepEqual(await bench.left(), []);
    await next.remove();
  });
});
