import { deepEqual, equal, ok } from "node:assert/strict";
import { spawn, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const scratch = await mkdtemp(join(tmpdir(), "nodelet-execve-"));
after(() => rm(scratch, { recursive: true }));

test(
  "another program in the same process: pid, environment, standard output; no other descriptor",
  { timeout: 120_000 },
  async () => {
    const inherited = await open(join(scratch, "inherited"), "w");
    // Above the first few that Node marks close-on-exec at its start.
    const stdio = ["ignore", "pipe", "inherit", ...Array.from({ length: 27 }, () => "ignore"), inherited.fd];
    const script = fileURLToPath(new URL("./fixtures/second-life.js", import.meta.url));
    const child = spawn(process.execPath, [script], {
      stdio: stdio as StdioOptions,
      env: { ...process.env, KEPT: "yes", GONE: "no" },
    });
    const exited = once(child, "exit");
    ok(child.stdout);
    const output = await text(child.stdout);
    deepEqual(await exited, [0, null]);
    await inherited.close();
    const { links, ...second } = JSON.parse(output) as { links: string[] } & Record<string, unknown>;
    deepEqual(second, { pid: child.pid, refused: "ENOENT", blocked: 0, LIFE: "zweites Leben", KEPT: "yes" });
    equal(links.includes(join(scratch, "inherited")), false, links.join(" "));
  },
);
