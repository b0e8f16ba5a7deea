// The two threads that serve HTTP: while one of them hangs or ends, the ports of the other respond, and no other thread
// starts over.
// @promise Failures: Port 10250 has a thread of its own, `secure-server`. While it hangs or is killed, `/healthz`,
//   10255 and the admin socket respond, no other thread restarts, and `/healthz?verbose` names it.
// @with test/main/threads/server-init.test.ts

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { PATIENCE } from "../../tools/standalone/wait.js";
import { startNode, waitFor, type TestNode } from "../harness/node.js";
import { agentLog, identities, PATIENCE_MS, runs, sleeper, type AgentLogLine } from "../support/fault-node.js";
import { isThreadExit, orderFault, THREAD_RUNS } from "../support/fault-orders.js";
import { secureAsk, waitSecure } from "../support/secure-ask.js";

type Ask = (node: TestNode) => Promise<number>;

const plain =
  (url: (node: TestNode) => string): Ask =>
  async (node) => {
    const response = await fetch(url(node), { signal: AbortSignal.timeout(PATIENCE_MS) });
    await response.text();
    return response.status;
  };
const secure =
  (path: string): Ask =>
  async (node) =>
    (await secureAsk(node, path)).status;

/** Requests to each thread. The metrics page has values of the other one. */
const ASKS: Readonly<Record<string, readonly Ask[]>> = {
  server: [
    plain(({ kubelet }) => kubelet.healthzUrl),
    plain(({ kubelet }) => `${kubelet.url}/healthz`),
    plain(({ kubelet }) => `${kubelet.url}/pods`),
    plain(({ kubelet }) => `${kubelet.url}/metrics`),
  ],
  "secure-server": [secure("/healthz"), secure("/pods"), secure("/metrics")],
};

let node: TestNode;
let calm: Record<string, string>;

before(async () => {
  node = await startNode({ secure: true, env: { NODELET_FAULTS: "1" } });
  await node.writeManifest("calm", sleeper("calm"));
  calm = identities(
    await node.waitFor((pods) => runs(pods, "calm"), { what: "the pod to run", timeoutMs: PATIENCE_MS }),
    ["calm"],
  );
  await waitSecure(node);
});
after(() => node.stop());

for (const [thread, other] of [
  ["secure-server", "server"],
  ["server", "secure-server"],
] as const) {
  for (const fault of ["hang", "terminate"] as const) {
    test(`${thread}: ${fault}: the ports of ${other} respond`, { timeout: 3 * PATIENCE_MS * PATIENCE }, async () => {
      const logged = (await agentLog(node)).length;
      const since = async (): Promise<AgentLogLine[]> => (await agentLog(node)).slice(logged);
      const isBack = async (): Promise<boolean> =>
        (await since()).some(({ msg, thread: of }) => msg === THREAD_RUNS && of === thread);
      await orderFault(node, `${fault} ${thread}`);
      await waitFor(
        async () => {
          for (const ask of ASKS[other] ?? []) assert.equal(await ask(node), 200);
          return isBack();
        },
        { what: "the thread to run again", timeoutMs: PATIENCE_MS },
      );
      assert.deepEqual(
        (await since()).filter(isThreadExit).map(({ thread: of }) => of),
        [thread],
      );
      await waitSecure(node);
      for (const ask of [...(ASKS[thread] ?? []), ...(ASKS[other] ?? [])]) assert.equal(await ask(node), 200);
      assert.deepEqual(identities(await node.pods(), ["calm"]), calm);
    });
  }
}

test("each page of metrics has the threads, streams and refusals of both, and the process once", async () => {
  assert.equal((await secureAsk(node, "/containerLogs/default/nothing/c0")).status, 404);
  const readOnly = await (await fetch(`${node.kubelet.url}/metrics`)).text();
  const { body: authenticated } = await secureAsk(node, "/metrics");
  for (const page of [readOnly, authenticated]) {
    for (const thread of ["main", "server", "secure-server"]) {
      assert.match(page, new RegExp(`^nodelet_thread_cpu_seconds_total\\{thread="${thread}"\\} `, "m"));
    }
    for (const type of ["readonly", "readwrite"]) {
      assert.match(page, new RegExp(`^kubelet_http_requests_total\\{[^}]*server_type="${type}"`, "m"));
    }
    assert.match(page, /^kubelet_metrics_provider\{[^}]*\} 1$/m);
    const seconds = Number(/^process_start_time_seconds (\S+)$/m.exec(page)?.[1]);
    assert.ok(Math.abs(seconds - Date.now() / 1000) < 3600, `the process started at ${seconds}`);
  }
});
