// Clients of the kubelet's ports: followers of busy logs, of which some leave and others come; short execs; scrapes of
// every page. They look at pods that write all the time.

import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { ChannelSocket } from "../../test/support/websocket.js";
import { BUSYBOX_IMAGE } from "../../tools/standalone/images.js";
import type { NodeUnderTest } from "../lib/node-under-test.js";
import type { Activity } from "./activity.js";

const FOLLOWERS = 8;
const REPLACED = 2;
const PAGES = ["/metrics", "/metrics/cadvisor", "/metrics/resource", "/metrics/probes", "/stats/summary", "/pods"];
/** Some 200 lines of 100 bytes per second. */
const WRITE = `l=$(printf %090d 7); while :; do echo "$l"; usleep 5000; done`;

/** Puts the writers' manifests in place and waits until they run. */
export async function startWriters(node: NodeUnderTest, names: readonly string[]): Promise<void> {
  for (const name of names) await node.manifests.put(name, writer(name));
  await node.until(names.length, ({ status }) => status?.phase === "Running");
}

export class Followers implements Activity {
  readonly name = "log followers";
  readonly pauseMs = 2000;
  private readonly open: IncomingMessage[] = [];
  private bytes = 0;

  constructor(
    private readonly node: NodeUnderTest,
    private readonly pods: readonly string[],
  ) {}

  /** The oldest leave, others come, and something is read. */
  async round(): Promise<void> {
    for (const old of this.open.splice(0, this.open.length < FOLLOWERS ? 0 : REPLACED)) old.destroy();
    while (this.open.length < FOLLOWERS) await this.follow(this.pods[this.open.length % this.pods.length] ?? "");
    const before = this.bytes;
    await new Promise((resolve) => setTimeout(resolve, 1000));
    if (this.bytes === before) throw new Error(`${this.open.length} followers got nothing within a second`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    for (const response of this.open) response.destroy();
    return Promise.resolve();
  }

  private async follow(pod: string): Promise<void> {
    const url = `${this.node.kubelet.secureUrl}/containerLogs/default/${pod}-bench/main?follow=true&tailLines=1`;
    const sent = request(url, { agent: false, rejectUnauthorized: false }).end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.on("error", () => undefined);
    response.on("data", (part: Buffer) => (this.bytes += part.length));
    this.open.push(response);
    if (response.statusCode !== 200) throw new Error(`${url}: ${response.statusCode ?? 0}`);
  }
}

export class Execs implements Activity {
  readonly name = "execs";
  readonly pauseMs = 1000;
  private serial = 0;

  constructor(
    private readonly node: NodeUnderTest,
    private readonly pods: readonly string[],
  ) {}

  async round(): Promise<void> {
    const word = `round-${++this.serial}`;
    const pod = this.pods[this.serial % this.pods.length] ?? "";
    const url = `${this.node.kubelet.secureUrl}/exec/default/${pod}-bench/main?output=1&command=echo&command=${word}`;
    const socket = await ChannelSocket.connect(url);
    try {
      await socket.until(() => socket.text(1) === `${word}\n`);
    } finally {
      socket.close();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}

export class Scrapes implements Activity {
  readonly name = "scrapes";
  readonly pauseMs = 3000;

  constructor(private readonly node: NodeUnderTest) {}

  async round(): Promise<void> {
    for (const page of PAGES) {
      const response = await fetch(`${this.node.kubelet.url}${page}`, { signal: AbortSignal.timeout(30_000) });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`${page}: ${response.status}`);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}

function writer(name: string): object {
  const main = { name: "main", image: BUSYBOX_IMAGE, imagePullPolicy: "IfNotPresent", command: ["sh", "-c", WRITE] };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: { terminationGracePeriodSeconds: 0, dnsPolicy: "Default", containers: [main] },
  };
}
