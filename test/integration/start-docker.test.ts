// npm start -- --runtime docker: the example pods run on its own Docker Engine, and nothing of it is left.
// @promise Docker Engine: `npm start -- --runtime docker` runs the example pods on an Engine of its own and leaves
//   nothing (`NODELET_TEST_RUNTIME=docker`).

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { processesUsing } from "../../tools/standalone/processes.js";
import { freePort } from "../support/free-port.js";

const START = fileURLToPath(new URL("../../tools/standalone/start.js", import.meta.url));
const USAGE = join(process.cwd(), "tools/usage/start.mjs");
const isDocker = process.env["NODELET_TEST_RUNTIME"] === "docker";

suite(
  "npm start -- --runtime docker",
  { skip: !isDocker && "needs a Docker Engine: NODELET_TEST_RUNTIME=docker" },
  () => {
    test("the sample pod runs; then pods, Engine and files are removed", async () => {
      const dir = join(process.env["NODELET_TEST_DIR"] ?? "", "start");
      const ports = ["--read-only-port", "--healthz-port", "--status-page-port"];
      const flags = await Promise.all(ports.map(async (flag) => [flag, String(await freePort())]));
      const args = ["--runtime", "docker", "--until-ready", "--state-dir", dir, ...flags.flat()];
      const main = `const { main } = await import(${JSON.stringify(START)}); const { parseStart } = await import(${JSON.stringify(USAGE)});
        process.exitCode = await main(parseStart(${JSON.stringify(args)}));`;
      const child = spawn(process.execPath, ["--input-type=module", "--eval", main], {
        stdio: ["ignore", "pipe", "pipe"],
      });
      let [out, problems] = ["", ""];
      child.stdout.setEncoding("utf8").on("data", (part: string) => (out += part));
      child.stderr.setEncoding("utf8").on("data", (part: string) => (problems += part));
      const [status] = (await once(child, "close")) as [number | null];
      assert.equal(status, 0, problems);
      assert.match(out, /^ready: pod hello is Running/m);
      assert.match(out, /^runtime +docker \d+\./m);
      assert.deepEqual(await processesUsing(dir), []);
      await assert.rejects(access(dir), { code: "ENOENT" });
    });
  },
);
