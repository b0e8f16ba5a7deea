// A runtime that breaks HTTP/2 in the middle of its connections: a whole kubelet changes to the channel of grpc-js, and
// its pods neither restart nor wait.
// @promise Failures: A runtime that breaks HTTP/2 costs the calls in flight: the thread changes to the channel of
//   grpc-js, running pods continue, and the next pod starts.
// @with test/shared/kubernetes/cri/channel/hostile.test.ts, test/shared/kubernetes/cri/channel-fallback.test.ts

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createConnection, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { startNode, waitFor, type TestNode } from "../harness/node.js";
import { agentLog, identities, PATIENCE_MS, runs, sleeper } from "../support/fault-node.js";

/** A PING that is too short. */
const BROKEN = Buffer.from("000001060000000000" + "00", "hex");

/** Passes on what client and runtime say. `breakAll` says something that the runtime did not. */
async function startPipe(t: TestContext, target: string): Promise<{ endpoint: string; breakAll(): number }> {
  const dir = await mkdtemp(join(tmpdir(), "nodelet-pipe-"));
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    const runtime = createConnection(target);
    clients.add(client);
    for (const [one, other] of [
      [client, runtime],
      [runtime, client],
    ] as const) {
      one.on("error", () => undefined);
      one.on("close", () => other.destroy());
      one.pipe(other);
    }
    client.on("close", () => clients.delete(client));
  });
  const path = join(dir, "cri.sock");
  server.listen(path);
  await once(server, "listening");
  t.after(async () => {
    server.close();
    for (const client of clients) client.destroy();
    await rm(dir, { recursive: true });
  });
  return {
    endpoint: `unix://${path}`,
    breakAll: () => {
      for (const client of clients) client.write(BROKEN);
      return clients.size;
    },
  };
}

test("pods continue and start under a runtime that broke HTTP/2", { timeout: 300_000 }, async (t) => {
  const target = (process.env["NODELET_CRI_ENDPOINT"] ?? "").replace("unix://", "");
  const pipe = await startPipe(t, target);
  const node = await startNode({ config: { containerRuntimeEndpoint: pipe.endpoint } });
  t.after(() => node.stop());
  await node.writeManifest("before", sleeper("before"));
  const options = { timeoutMs: PATIENCE_MS };
  const before = await node.waitFor((pods) => runs(pods, "before"), { what: "the pod to run", ...options });
  assert.ok(pipe.breakAll() > 0);
  await waitFor(() => fallbacks(node), { what: "a thread to change its channel", ...options });
  await node.writeManifest("after", sleeper("after"));
  const after = await node.waitFor((pods) => runs(pods, "after"), { what: "the next pod to run", ...options });
  assert.deepEqual(identities(after, ["before"]), identities(before, ["before"]));
  const lines = (await agentLog(node)).map(({ msg }) => msg);
  assert.ok(lines.some((line) => /broke HTTP\/2: .*--cri-channel=grpc-js/.test(line)));
});

/** Threads that changed to the channel of grpc-js; undefined: none. */
async function fallbacks(node: TestNode): Promise<number | undefined> {
  const response = await fetch(`${node.kubelet.url}/metrics`, { signal: AbortSignal.timeout(PATIENCE_MS) });
  const [, count = "0"] = /^nodelet_cri_channel_fallbacks_total (\d+)$/m.exec(await response.text()) ?? [];
  return Number(count) === 0 ? undefined : Number(count);
}
