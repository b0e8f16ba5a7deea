// npm start: the kubelet or the private runtime ends by itself. The user learns how, and the logs are kept.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { processesUsing } from "../../tools/standalone/processes.js";
import { waitFor } from "../harness/node.js";
import { freePort } from "../support/free-port.js";

const START = fileURLToPath(new URL("../../tools/standalone/start.js", import.meta.url));
const USAGE = join(process.cwd(), "tools/usage/start.mjs");

/** The record of a run's processes that has a pid below `key`. */
const RECORDS = [
  { program: "the kubelet", record: "standalone.json", key: "kubelet", log: "kubelet.log" },
  { program: "the private containerd", record: "containerd/instance.json", key: "containerd", log: "containerd.log" },
] as const;

suite("npm start whose program ends by itself", () => {
  for (const { program, record, key, log } of RECORDS) {
    test(`${program} is killed: its signal and the end of its log are shown, and the log stays`, async () => {
      const dir = join(process.env["NODELET_TEST_DIR"] ?? "", `start-${key}`);
      const ports = ["--read-only-port", "--healthz-port", "--status-page-port"];
      const flags = await Promise.all(ports.map(async (flag) => [flag, String(await freePort())]));
      const args = ["--state-dir", dir, ...flags.flat()];
      const main = `const { main } = await import(${JSON.stringify(START)}); const { parseStart } = await import(${JSON.stringify(USAGE)});
        process.exitCode = await main(parseStart(${JSON.stringify(args)}));`;
      const child = spawn(process.execPath, ["--input-type=module", "--eval", main], {
        stdio: ["ignore", "ignore", "pipe"],
      });
      const closed = once(child, "close") as Promise<[number | null]>;
      let said = "";
      child.stderr.setEncoding("utf8").on("data", (part: string) => (said += part));
      await waitFor(() => child.exitCode !== null || said.includes("Ctrl-C stops the pods"), {
        what: "npm start to run",
      });
      assert.equal(child.exitCode, null, said);
      const records = JSON.parse(await readFile(join(dir, record), "utf8")) as Record<string, { pid: number }>;
      const victim = records[key]?.pid;
      assert.ok(victim !== undefined);
      process.kill(victim, "SIGKILL");
      const [status] = await closed;
      assert.equal(status, 1, said);
      assert.ok(said.includes(`nodelet: ${program} ended with signal SIGKILL; the end of its log:\n`), said);
      const kept = join(`${dir}.failed`, log);
      assert.match(said, new RegExp(`nodelet: kept until the next failure: .*${kept}`));
      assert.ok((await readFile(kept, "utf8")).length > 0);
      assert.deepEqual(await processesUsing(dir), []);
      await assert.rejects(access(dir), { code: "ENOENT" });
    });
  }
});
