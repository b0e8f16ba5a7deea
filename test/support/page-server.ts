// The status page over an example node: the real routes, feeds and document, without a kubelet.

import { readFile } from "node:fs/promises";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { systemClock } from "../../src/shared/base/clock/clock.js";
import { POD_KEY, SAMPLE_KEY, USAGE_KEY } from "../../src/shared/contracts/status-page.js";
import { Feed, type Entries } from "../../src/workers/server/page/feed.js";
import { loopbackHandler } from "../../src/workers/server/page/loopback-page.js";
import { pageRoutes } from "../../src/workers/server/page/page-routes.js";
import { podDetails } from "../../src/workers/server/page/pod-details.js";
import { visiblePod } from "../../src/workers/server/page/visible-pod.js";
import { plainServer } from "../../src/workers/server/ports/listener.js";
import type { ExampleNode } from "./example-node.js";
import { silentLog } from "./silent.js";

export interface PageServer {
  url: string;
  close(): void;
}

const LOG = silentLog;
const PAGE = new URL("../../agent/page/", import.meta.url);

/** `node` is read again every half second, so that a test may change it. */
export async function servePage(node: () => ExampleNode): Promise<PageServer> {
  const feed = (read: () => [string, unknown][]): Feed =>
    new Feed(
      [
        {
          everyMs: 500,
          read: (): Entries => new Map(read().map(([key, value]) => [key, JSON.stringify(value ?? null)])),
        },
      ],
      systemClock,
    );
  const routes = pageRoutes({
    document: async () => ({
      html: await readFile(new URL("index.html", PAGE)),
      policy: (await readFile(new URL("policy.txt", PAGE), "utf8")).trim(),
    }),
    node: feed(() => {
      const { status, threads, samples, machine, pods } = node();
      return [
        ["status", status],
        ["threads", threads],
        ["machine", machine],
        ...samples.map((sample, index): [string, unknown] => [`${SAMPLE_KEY}${index}`, sample]),
        ...pods.flatMap(({ pod, usage }): [string, unknown][] => [
          [`${POD_KEY}${pod.metadata.uid}`, visiblePod(pod)],
          ...(usage === undefined ? [] : [[`${USAGE_KEY}${pod.metadata.uid}`, usage] as [string, unknown]]),
        ]),
      ];
    }),
    host: feed(() => [
      ["host", node().host],
      ["events", node().events],
    ]),
    images: feed(() => [["images", node().images]]),
    pod: (namespace, name) =>
      feed(() => {
        const found = node().pods.find(
          ({ pod: { metadata } }) => metadata.name === name && metadata.namespace === namespace,
        );
        return [
          ["facts", found?.facts],
          ["timeline", found?.timeline],
          ["details", found && podDetails(found.pod)],
        ];
      }),
    configz: () => ({ plain: "{}", withOrigins: node().configz }),
    logs: (_request, response) => {
      response.setHeader("Content-Type", "text/plain");
      response.end(node().log);
    },
    clock: systemClock,
  });
  const server: Server = plainServer(loopbackHandler(routes, LOG), systemClock, LOG).server as Server;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/ui/`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
