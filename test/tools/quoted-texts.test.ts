// Texts of others stand in messages as Go's %q has them (src/shared/base/text/quote.ts): upstream's messages do, and a
// quote, a line end or a control character in a name cannot forge the rest of a message. `"${name}"` would do that.

import { deepEqual } from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const RAW = /(?<!\\)"\$\{[^{}`]+\}"/;
/**
 * No messages: options of mounts, ETags, CSV, labels, SVG, HTML, JSON, shell. Or the text is quoted or checked before.
 */
const NOT_MESSAGES = new Set([
  ...["main/command/comma-list.ts", "main/pods/sources/submitted/conditions.ts", "main/volumes/se-linux-mounts.ts"],
  ...["workers/server/metrics/merge-metrics.ts", "workers/server/stats/exposition/cadvisor-labels.ts"],
  ...[
    "workers/server/stats/exposition/text.ts",
    "workers/server/pods/timeline/timeline-svg.ts",
    "workers/server/http/reply.ts",
  ],
  ...[
    "workers/server/logs/node/file-server.ts",
    "workers/server/pods/manifests/view.ts",
    "workers/server/pods/manifests/watch.ts",
  ],
  ...[
    "workers/server/pods/manifests/answer.ts",
    "shared/base/text/quote.ts",
    "shared/telemetry/log/text-line.ts",
    "shared/io/http/bytes.ts",
  ],
  "main/model/plugin-handler.ts",
]);
/** The texts are this program's own: words, numbers, quantities, addresses, constants. */
const OWN_WORDS = new Set([
  ...[
    "main/model/pod-events.ts",
    "main/resources/memory-manager/reserved-memory.ts",
    "main/containers/user-namespaces/id-range.ts",
  ],
  ...[
    "workers/eviction/messages.ts",
    "workers/peers/grpc.ts",
    "shared/io/yaml/parser.ts",
    "shared/base/text/nearest-name.ts",
  ],
  ...[
    "shared/kubernetes/api/client/connection/dial.ts",
    "shared/kubernetes/cri/verbs.ts",
    "shared/kubernetes/cri/caller.ts",
  ],
  "main/resources/devices/register-plugin.ts",
]);

test("a message quotes texts of others with quote()", () => {
  const files = ["main", "workers", "shared"].flatMap((folder) =>
    readdirSync(`src/${folder}`, { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`),
  );
  const raw = files.flatMap((name) => {
    if (!name.endsWith(".ts") || NOT_MESSAGES.has(name) || OWN_WORDS.has(name)) return [];
    const lines = readFileSync(`src/${name}`, "utf8").split("\n");
    return lines.flatMap((line, at) => (RAW.test(line) && !/^\s*(?:\/\/|\*)/.test(line) ? [`${name}:${at + 1}`] : []));
  });
  deepEqual(raw, []);
});
