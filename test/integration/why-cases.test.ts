// The table of broken pods: one row a case, all on one node with real containerd. Each row has the exit code of
// `nodelet why`, its deciding sentence, the evidence below it, and hints that would be wrong. Rows that need an API
// server: test/cluster/why.test.ts. Facts that no pod can bring about here: test/cli/why.
// @headline Command and status page | `nodelet why` names the cause of a broken pod. | every case of its table

import assert from "node:assert/strict";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { EXIT } from "../../src/cli/errors.js";
import { startNode, waitFor, type TestNode } from "../harness/node.js";
import { nodelet } from "../support/nodelet-command.js";
import { IDLE, manifest, podOf, shell, waitForPod } from "../support/static-pods.js";
import { explained, listedAs, podsAt, why } from "../support/why-command.js";
import { mount, rowsIn, WRONG_KILL, type Row } from "../support/why-rows.js";

/** ELF header of a 64-bit little-endian program for machine 0xF3F3, which no kernel runs. */
function foreignProgram(): Buffer {
  const header = Buffer.alloc(64);
  Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]).copy(header);
  header.writeUInt16LE(2, 16);
  header.writeUInt16LE(0xf3f3, 18);
  return header;
}

/** Answers each request of a runtime as a registry that has no image, or refuses every client. */
function registry(status: 404 | 401): Server {
  const code = status === 404 ? "MANIFEST_UNKNOWN" : "UNAUTHORIZED";
  return createHttpServer((_request, response) => {
    const headers = status === 401 ? { "WWW-Authenticate": 'Basic realm="locked"' } : {};
    response.writeHead(status, { "Content-Type": "application/json", ...headers });
    response.end(JSON.stringify({ errors: [{ code, message: "no" }] }));
  });
}

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

describe("nodelet why", () => {
  let node: TestNode;
  let dir: string;
  const servers: Server[] = [createServer(), registry(404), registry(401)];
  const NAMES = Object.keys(rowsIn({ dir: "", port: 0, registry: "", locked: "" }));
  let rows: Record<string, Row> = {};

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "nodelet-why-"));
    await writeFile(join(dir, "foreign"), foreignProgram());
    await chmod(join(dir, "foreign"), 0o755);
    const [port = 0, absent = 0, locked = 0] = await Promise.all(servers.map(listen));
    rows = rowsIn({ dir, port, registry: `127.0.0.1:${absent}`, locked: `127.0.0.1:${locked}` });
    node = await startNode();
    await node.writeManifest("port-first", manifestOf("port-first"));
    await waitForPod(node, "port-first", ({ status }) => status?.phase === "Running", "running");
    for (const name of NAMES) if (name !== "port-first") await node.writeManifest(name, manifestOf(name));
  });
  after(async () => {
    await node.stop();
    for (const server of servers) server.close();
    await rm(dir, { recursive: true, force: true });
  });

  function manifestOf(name: string): object {
    const { pod = IDLE, spec = {} } = rows[name] ?? {};
    const one =
      typeof pod === "string"
        ? shell("app", pod, spec.volumes === undefined ? {} : { volumeMounts: [mount("data", "/data")] })
        : pod;
    return manifest(name, Array.isArray(one) ? one : [one], { spec });
  }

  describe("explains", { concurrency: true }, () => {
    for (const name of NAMES) {
      test(`the pod ${name}`, async () => {
        const row = rows[name];
        assert.ok(row !== undefined);
        await explained(node, name, row);
        await listedAs(node, `${name}-testnode`, row.code === EXIT.fine);
      });
    }
  });

  test("exec in a container that does not run gives its reason and the next command", async () => {
    const { code, stderr } = await nodelet(node, "exec", "image-never", "--", "true");
    assert.equal(code, 1);
    assert.match(stderr, /container app of default\/image-never-testnode does not run: ErrImageNeverPull/);
    assert.match(stderr, /see `nodelet why default\/image-never-testnode`/);
  });

  test("the next kubelet still explains the stop by a probe, and AGE does not begin anew", async () => {
    const HOUR = 3_600_000;
    const ageOf = async (at: number): Promise<string> => {
      const { text } = await podsAt(node, at);
      return /default +healthy-testnode .* (\S+)$/m.exec(text)?.[1] ?? text;
    };
    const shownStart = Date.parse(podOf(await node.pods(), "healthy")?.status?.startTime ?? "");
    assert.equal(await ageOf(shownStart + HOUR), "60m");
    await node.restart();
    // The kubelet is healthy before its admin socket is there.
    await waitFor(async () => (await podsAt(node, shownStart)).code !== EXIT.noKubelet, { what: "the admin socket" });
    await waitForPod(
      node,
      "healthy",
      ({ status }) => Date.parse(status?.startTime ?? "") > shownStart,
      "a later start time",
    );
    assert.equal(await ageOf(shownStart + HOUR), "60m");
    const words = [/startup probe exec false failed without output, 2 times in a row; killed \d+ times?, last/];
    await explained(node, "startup-kill", { words, never: WRONG_KILL });
  });

  test("a preStop hook that hangs is named while the pod terminates", async () => {
    const hook = { preStop: { exec: { command: ["sleep", "1000"] } } };
    const pod = manifest("hook", [shell("app", IDLE, { lifecycle: hook })], {
      spec: { terminationGracePeriodSeconds: 900 },
    });
    await node.writeManifest("hook", pod);
    await waitForPod(node, "hook", ({ status }) => status?.phase === "Running", "running");
    await node.removeManifest("hook");
    const wanted =
      /it is terminating .*still running: app\. SIGKILL follows in \S+, .*a preStop hook runs within the same grace period/;
    let seen = "";
    await waitFor(
      async () => {
        seen = (await why(node, "hook")).text.replace(/\s+/g, " ");
        return wanted.test(seen);
      },
      { what: "the hook to be named", lastSeen: () => seen },
    );
  });
});
