// The operator's calls, on their own thread. The load of an attack on the test's main thread must not delay them. One
// new connection for each call, as kubectl through an API server has it.

import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request, type RequestOptions } from "node:https";
import { parentPort, workerData } from "node:worker_threads";
import type { PodView } from "../../tools/standalone/pods.js";
import { sleep } from "../../tools/standalone/wait.js";
import { ChannelSocket } from "../support/websocket.js";
import { DIRECT_PAGE } from "./direct.js";
import type { OperatorCall, OperatorData } from "./operator.js";

const PAUSE_MS = 250;
/** A call that takes longer is given up, and counts as one that failed. */
const DEADLINE_MS = 20_000;

const { url, directUrl, cert, key, pod, container } = workerData as OperatorData;
const path = `default/${pod}/${container}`;
const credentials = { cert, key, rejectUnauthorized: false, agent: false } as const;

async function get(target: string, base: string = url): Promise<string> {
  const { hostname, port } = new URL(base);
  const options: RequestOptions = { ...credentials, host: hostname, port, path: target };
  const sent = request({ ...options, signal: AbortSignal.timeout(DEADLINE_MS) }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  let body = "";
  for await (const part of response.setEncoding("utf8")) body += part as string;
  if (response.statusCode !== 200) throw new Error(`${target}: ${response.statusCode ?? 0} ${body.slice(0, 200)}`);
  return body;
}

async function exec(): Promise<void> {
  const command = ["echo", "here"].map((word) => `command=${word}`).join("&");
  const socket = await ChannelSocket.connect(`${url}/exec/${path}?${command}&output=1&error=1`, {
    client: { cert, key },
    signal: AbortSignal.timeout(DEADLINE_MS),
  });
  try {
    await socket.until(() => socket.text(1).includes("here"), DEADLINE_MS);
  } finally {
    socket.close();
  }
}

/** Result of a call besides its duration. */
const CALLS: Readonly<Record<string, () => Promise<Partial<OperatorCall>>>> = {
  "/pods": async () => ({ pod: podIn(await get("/pods")) }),
  "/containerLogs": async () => (await get(`/containerLogs/${path}?tailLines=10`), {}),
  "/exec": async () => (await exec(), {}),
  "/stats/summary": async () => (await get("/stats/summary"), {}),
  "/metrics": async () => figuresOf(await get("/metrics")),
  [DIRECT_PAGE]: async () => (figuresOf(await get("/", directUrl)), {}),
};

function podIn(text: string): NonNullable<OperatorCall["pod"]> {
  const { items = [] } = JSON.parse(text) as { items?: PodView[] | null };
  const found = items?.find(({ metadata }) => metadata.name === pod);
  const ready = found?.status?.conditions?.find(({ type }) => type === "Ready");
  return {
    ready: ready?.status === "True",
    since: ready?.lastTransitionTime ?? "",
    restarts: (found?.status?.containerStatuses ?? []).reduce((sum, { restartCount }) => sum + restartCount, 0),
  };
}

function figuresOf(text: string): Partial<OperatorCall> {
  const lines = text.split("\n");
  const value = (line: string): number => Number(line.slice(line.lastIndexOf(" ") + 1));
  const delay = lines.find(
    (line) => line.startsWith("nodelet_loop_delay_seconds{") && line.includes('"main"') && line.includes('"1"'),
  );
  const restarts = lines.filter((line) => line.startsWith("nodelet_thread_restarts_total{"));
  return {
    threadRestarts: restarts.reduce((sum, line) => sum + value(line), 0),
    restartReasons: restarts.filter((line) => value(line) > 0).join(", "),
    ...(delay === undefined ? {} : { mainDelayMs: value(delay) * 1000 }),
  };
}

for (;;) {
  for (const [kind, make] of Object.entries(CALLS)) {
    const began = performance.now();
    const call: OperatorCall = { kind, ms: 0 };
    try {
      Object.assign(call, await make());
    } catch (error) {
      call.problem = error instanceof Error ? error.message : String(error);
    }
    call.ms = performance.now() - began;
    parentPort?.postMessage(call);
    await sleep(PAUSE_MS);
  }
}
