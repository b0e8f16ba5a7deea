// A process that does without the kubelet what the kubelet does for the victim and the operator: each second the three
// probes of the victim, the exec one straight at the runtime's socket; now and then the runtime's statistics, as
// /stats/summary asks for them; and a page over TLS (direct-page-thread.ts).
// Invariant: it has the kubelet's niceness and a session of its own, and reads no byte of an attack.

import { readFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { Worker } from "node:worker_threads";
import { AGENT_NICENESS, raisePriority } from "../../src/main/process/unix/process-limits.js";
import { call, connectCri } from "../../tools/standalone/cri.js";
import { sleep } from "../../tools/standalone/wait.js";
import { DIRECT_PROBES, PERIOD_MS } from "./bystander.js";
import type { DirectCall, DirectTarget } from "./direct.js";

/** A probe that takes longer is given up; the victim's own have 5 s. */
const DEADLINE_MS = 20_000;

const [endpoint = "", certFile = "", keyFile = ""] = process.argv.slice(2);
raisePriority(AGENT_NICENESS, console);
const cri = connectCri(endpoint);

/** As often as the operator asks for the kubelet's, about. */
const STATS_MS = 2000;

async function stats(): Promise<void> {
  const began = performance.now();
  await Promise.all([
    call((done) => cri.runtime.listContainerStats({ filter: undefined }, done)),
    call((done) => cri.image.imageFsInfo({}, done)),
  ]);
  process.send?.({ kind: "stats", ms: performance.now() - began } satisfies DirectCall);
}

const PROBES: readonly ((target: DirectTarget) => Promise<void>)[] = [
  async ({ containerId }) => {
    const began = performance.now();
    const asked = { containerId, cmd: [...DIRECT_PROBES.command], timeout: BigInt(DEADLINE_MS / 1000) };
    await call((done) => cri.runtime.execSync(asked, done));
    process.send?.({ kind: "exec", ms: performance.now() - began } satisfies DirectCall);
  },
  ({ podIp: host }) =>
    new Promise<void>((resolve, reject) => {
      const [port, path] = [DIRECT_PROBES.httpPort, DIRECT_PROBES.httpPath];
      const sent = request({ host, port, path, agent: false, timeout: DEADLINE_MS }, (response) => {
        response.resume().once("close", resolve);
      });
      sent
        .once("error", reject)
        .once("timeout", () => sent.destroy(new Error("no response")))
        .end();
    }),
  ({ podIp: host }) =>
    new Promise<void>((resolve, reject) => {
      const socket = connect({ host, port: DIRECT_PROBES.tcpPort }, () => {
        socket.destroy();
        resolve();
      });
      socket.once("error", reject);
    }),
];

let running: AbortController | undefined;

/** Work each `periodMs`; after one that is late the next begins at once, as the kubelet's probes. */
async function repeat(work: () => Promise<void>, periodMs: number, over: AbortSignal): Promise<void> {
  const first = performance.now();
  for (let last = 0; !over.aborted;) {
    await sleep(Math.max(0, first + (last + 1) * periodMs - performance.now()));
    last = Math.floor((performance.now() - first) / periodMs);
    // A failed one leaves no stamp: it counts as late.
    await work().catch((error: unknown) => console.error(`direct: ${String(error)}`));
  }
}

process.on("message", (target: DirectTarget | "rest") => {
  running?.abort();
  if (target === "rest") return;
  running = new AbortController();
  for (const probe of PROBES) void repeat(() => probe(target), PERIOD_MS, running.signal);
  void repeat(stats, STATS_MS, running.signal);
});
process.once("disconnect", () => process.exit());

const page = new Worker(new URL("./direct-page-thread.js", import.meta.url), {
  workerData: { cert: readFileSync(certFile, "utf8"), key: readFileSync(keyFile, "utf8") },
});
page.once("message", (port: number) => process.send?.({ port }));
