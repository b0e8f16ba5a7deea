// Helpers for tests of the probes' handlers: local servers, a run with a deadline, the sockets that a probe leaves.

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { AddressInfo, Server, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { systemClock } from "../../src/shared/base/clock/clock.js";
import type { ProbeAction, ProbeSpec } from "../../src/shared/contracts/prober.js";
import { podUid, containerIdOf } from "../../src/shared/kubernetes/identifiers.js";
import { ProbeDeadline } from "../../src/shared/node/probes/probe-deadline.js";
import type { RunContext, RunResult } from "../../src/shared/node/probes/run.js";
import { StallMeter } from "../../src/shared/node/probes/stall-meter.js";
import { threadCpu } from "../../src/shared/thread/thread-cpu.js";
import { PeerActions } from "../../src/workers/peers/run-action.js";

export const USER_AGENT = "kube-probe/1.36";
/** For probes that are meant to get an answer; generous, as the machine is shared. */
export const PATIENCE_MS = 60_000;

export async function runWithin(
  timeoutMs: number,
  run: (context: RunContext) => Promise<RunResult>,
): Promise<RunResult> {
  using deadline = new ProbeDeadline(systemClock, new StallMeter(systemClock), timeoutMs, new AbortController().signal);
  return await run({ uid: podUid("u1"), deadline, userAgent: USER_AGENT });
}

/** The peers thread's actions in this thread. */
export const peerActions = (): PeerActions =>
  new PeerActions(
    systemClock,
    threadCpu(() => systemClock.monotonic()),
  );

/** Runs a probe as the peers thread does. */
export function runPeerProbe(
  action: ProbeAction,
  timeoutMs: number,
  { actions = peerActions(), uid = "u1" } = {},
): Promise<RunResult> {
  const spec: ProbeSpec = {
    ...{
      containerId: containerIdOf("c1"),
      kind: "readiness",
      container: "app",
      generation: 1,
      action,
      startedAt: 0,
      timeoutMs,
    },
    ...{ initialDelayMs: 0, periodMs: 1000, successThreshold: 1, failureThreshold: 1 },
  };
  return runWithin(timeoutMs, (context) => actions.probe(spec, { ...context, uid: podUid(uid) }));
}

/** Listens on a free port of the loopback address until the test ends; gives the port. */
export async function listen(t: TestContext, server: Server, host = "127.0.0.1"): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
  });
  server.listen(0, host);
  await once(server, "listening");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

/** A port without a listener. */
export async function closedPort(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const TIME_WAIT = "06";

/**
 * Counts the connections to or from the port, on IPv4, that came into TIME_WAIT since this call. Another process may
 * have left some of the same port number before.
 */
export function timeWaits(port: number): () => number {
  const before = new Set(inTimeWait(port));
  return () => inTimeWait(port).filter((pair) => !before.has(pair)).length;
}

function inTimeWait(port: number): string[] {
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  const rows = readFileSync("/proc/net/tcp", "utf8").trim().split("\n").slice(1);
  return rows.flatMap((row) => {
    const [, local = "", remote = "", state] = row.trim().split(/\s+/);
    const isOfPort = local.endsWith(`:${hex}`) || remote.endsWith(`:${hex}`);
    return state === TIME_WAIT && isOfPort ? [`${local} ${remote}`] : [];
  });
}

/** A key and a self-signed certificate. */
export function selfSigned(): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), "nodelet-tls-"));
  const [key, cert] = [join(folder, "key"), join(folder, "cert")];
  const words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=nobody".split(" ");
  try {
    execFileSync("openssl", [...words, "-keyout", key, "-out", cert], { stdio: "pipe" });
    return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Sockets of this process that the event loop still serves, listening ones not counted. */
export function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
}
