// Cost of the server's clients for the sync path. Pods start one by one: first without clients, then while 50 clients
// follow fast logs and 20 execs stream through the authenticated port. The same pods write their logs both times.
// @headline Speed | 50 log followers and 20 execs hardly delay a sync. | ≤ 1.1 × (missed)

import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { ChannelSocket } from "../../test/support/websocket.js";
import { BUSYBOX_IMAGE } from "../../tools/standalone/images.js";
import type { NodeUnderTest } from "../lib/node-under-test.js";
import type { Section } from "../lib/section.js";
import { benchPodStart } from "./pod-start.js";

interface StreamsResult {
  followers: number;
  execs: number;
  /** Milliseconds, manifest → process in the container. */
  quiet: { p50: number; p90: number };
  served: { p50: number; p90: number };
  /** p50 while served over p50 while quiet. */
  ratio: number;
  /** Throughput of the followers, MiB per second. */
  mibPerSecond: number;
}

const WRITERS = 10;
const FOLLOWERS = 50;
const EXECS = 20;
const ROUNDS = 15;
/** 500 lines of 100 bytes per second. */
const WRITE = `l=$(printf %090d 7); while :; do echo "$l"; usleep 2000; done`;

export const streamsSection: Section<StreamsResult> = {
  name: "streams",
  run: (nodes) => nodes.withOwn("streams", {}, { port: 21_250 }, benchStreams),
  report: ({ followers, execs, quiet, served, ratio, mibPerSecond }) => [
    {
      title: `Pods one by one (ms) while ${followers} clients follow logs and ${execs} execs stream`,
      head: ["quiet p50", "p90", "served p50", "p90", "served over quiet", "MiB/s to followers"],
      rows: [[quiet.p50, quiet.p90, served.p50, served.p90, ratio, mibPerSecond]],
    },
  ],
};

async function benchStreams(node: NodeUnderTest): Promise<StreamsResult> {
  const writers = Array.from({ length: WRITERS }, (_, i) => `writer-${i}`);
  for (const name of writers) await node.manifests.put(name, writingPod(name));
  await node.until(WRITERS, ({ status }) => status?.phase === "Running");
  const names = (await node.kubelet.pods()).map(({ metadata }) => metadata.name);
  await benchPodStart(node, 1, 2, WRITERS); // warm-up, not counted
  const quiet = (await benchPodStart(node, 1, ROUNDS, WRITERS)).pod;
  const ends: (() => void)[] = [];
  let bytes = 0;
  const { secureUrl } = node.kubelet;
  try {
    for (let i = 0; i < FOLLOWERS; i++) {
      const path = `/containerLogs/default/${names[i % WRITERS] ?? ""}/main?follow=true&tailLines=1`;
      const response = await open(`${secureUrl}${path}`);
      response.on("data", (part: Buffer) => (bytes += part.length));
      ends.push(() => response.destroy());
    }
    for (let i = 0; i < EXECS; i++) {
      const command = ["sh", "-c", "while :; do echo 0123456789; usleep 100000; done"];
      const query = command.map((word) => `command=${encodeURIComponent(word)}`).join("&");
      const name = names[i % WRITERS] ?? "";
      const socket = await ChannelSocket.connect(`${secureUrl}/exec/default/${name}/main?output=1&${query}`);
      ends.push(() => socket.close());
    }
    bytes = 0;
    const startedAt = performance.now();
    const served = (await benchPodStart(node, 1, ROUNDS, WRITERS)).pod;
    const seconds = (performance.now() - startedAt) / 1000;
    return {
      followers: FOLLOWERS,
      execs: EXECS,
      quiet: { p50: quiet.p50, p90: quiet.p90 },
      served: { p50: served.p50, p90: served.p90 },
      ratio: Math.round((served.p50 / quiet.p50) * 100) / 100,
      mibPerSecond: Math.round((bytes / 1048576 / seconds) * 10) / 10,
    };
  } finally {
    for (const end of ends) end();
    for (const name of writers) await node.manifests.remove(name);
    await node.until(0);
  }
}

function writingPod(name: string): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: {
      terminationGracePeriodSeconds: 0,
      dnsPolicy: "Default",
      containers: [
        { name: "main", image: BUSYBOX_IMAGE, imagePullPolicy: "IfNotPresent", command: ["sh", "-c", WRITE] },
      ],
    },
  };
}

async function open(url: string): Promise<IncomingMessage> {
  const sent = request(url, { agent: false, rejectUnauthorized: false }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`${url}: ${response.statusCode ?? 0}`);
  return response;
}
