// `npm start` as a process of its own, with free ports; its packages and build are those of the test run.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { processesUsing } from "../../tools/standalone/processes.js";
import { waitFor } from "../../tools/standalone/wait.js";
import { freePort } from "./free-port.js";

const START = fileURLToPath(new URL("../../tools/standalone/start.js", import.meta.url));
const USAGE = join(process.cwd(), "tools/usage/start.mjs");

export interface RunningStart {
  /** Its state folder. */
  readonly dir: string;
  readonly pid: number | undefined;
  /** Standard output so far. */
  out(): string;
  /** Standard error so far. */
  problems(): string;
  /** Resolves when the example pods run; fails when the process ends first. */
  untilReady(): Promise<void>;
  /** The exit status; null after a signal. */
  readonly closed: Promise<number | null>;
  /** Ends it at once if it still runs: a failed test leaves nothing. */
  stop(): Promise<void>;
}

/** Starts it in a folder `name` of the test run, with more `options` of the command line. */
export async function npmStart(name: string, options: readonly string[] = []): Promise<RunningStart> {
  const dir = join(process.env["NODELET_TEST_DIR"] ?? "", name);
  const ports = ["--read-only-port", "--healthz-port", "--status-page-port"];
  const flags = await Promise.all(ports.map(async (flag) => [flag, String(await freePort())]));
  const args = [...options, "--state-dir", dir, ...flags.flat()];
  const main = `const { main } = await import(${JSON.stringify(START)}); const { parseStart } = await import(${JSON.stringify(USAGE)});
    process.exitCode = await main(parseStart(${JSON.stringify(args)}));`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", main], { stdio: ["ignore", "pipe", "pipe"] });
  let [out, problems] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (part: string) => (out += part));
  child.stderr.setEncoding("utf8").on("data", (part: string) => (problems += part));
  const closed = once(child, "close").then(([status]) => status as number | null);
  return {
    dir,
    pid: child.pid,
    out: () => out,
    problems: () => problems,
    async untilReady(): Promise<void> {
      await waitFor(() => child.exitCode !== null || problems.includes("Ctrl-C stops the pods"), {
        what: "npm start to run",
      });
      assert.equal(child.exitCode, null, problems);
    },
    closed,
    async stop(): Promise<void> {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill("SIGINT");
        child.kill("SIGINT");
      }
      await closed;
    },
  };
}

/** Fails if the run left a process or its folder. */
export async function assertNothingIsLeft({ dir }: RunningStart): Promise<void> {
  assert.deepEqual(await processesUsing(dir), []);
  await assert.rejects(access(dir), { code: "ENOENT" });
}
