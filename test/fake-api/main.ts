// The fake API server by hand and for benches: `node dist/test/fake-api/main.js --port 6443`. Prints the path of an
// administrator's kubeconfig and runs until a signal ends it.

import { once } from "node:events";
import { parseArgs } from "node:util";
import { FakeApi } from "./fake-api.js";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    host: { type: "string", default: "127.0.0.1" },
    controllers: { type: "boolean", default: true },
    "node-restriction": { type: "boolean", default: true },
    /** Names of nodes: a kubeconfig is printed for each. */
    node: { type: "string", multiple: true, default: [] },
  },
});

await using api = await FakeApi.start({
  port: Number(values.port),
  host: values.host,
  controllers: values.controllers,
  nodeRestriction: values["node-restriction"],
});
console.log(await api.kubeconfig({ name: "admin", groups: ["system:masters"] }));
for (const node of values.node) {
  console.log(`${node} ${await api.kubeconfig({ name: `system:node:${node}`, groups: ["system:nodes"] })}`);
}
await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
