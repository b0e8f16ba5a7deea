// The pods API through the whole kubelet: a client on the node lists and watches pods on real containerd.
// @promise Server: Gate PodsAPI: a program on the node lists, reads and watches pods with their statuses; a new pod is
//   an event from its first status on, and a terminating one has its newest labels, as upstream; a slow watcher is
//   ended with RESOURCE_EXHAUSTED and counted, others receive all.
// @with test/main/node/pods-api, test/shared/kubernetes/api/protobuf

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { credentials, status, type ServiceError } from "@grpc/grpc-js";
import { EventType, PodsClient, type WatchPodsEvent } from "../../src/shared/kubernetes/plugins/gen/pods.v1alpha1.js";
import { startNode, waitFor, type TestNode } from "../harness/node.js";
import { decode } from "../support/protobuf-decode.js";
import { IDLE, manifest, shell, waitGone, waitForPod } from "../support/static-pods.js";

let node: TestNode;
let client: PodsClient;

before(async () => {
  node = await startNode({ config: { featureGates: { PodsAPI: true } } });
  const socket = join(node.kubelet.rootDir, "pods-api/pods-api.sock");
  await waitFor(() => existsSync(socket), { what: "the socket of the pods API" });
  client = new PodsClient(`unix://${socket}`, credentials.createInsecure());
});
after(async () => {
  client.close();
  await node.stop();
});

interface Seen {
  metadata?: { name: string; uid: string };
  spec?: { containers: { name: string; image: string }[] };
  status?: { phase: string; podIP?: string };
}
const podOf = (bytes: Uint8Array): Seen => decode("Pod", bytes);

const get = (podUID: string): Promise<Seen> =>
  new Promise((resolve, reject) => {
    client.getPod({ podUID }, (error, reply) => (error === null ? resolve(podOf(reply.pod)) : reject(error)));
  });

test("a client on the node watches a pod from its start to its removal, and reads it", async () => {
  const events: string[] = [];
  const stream = client.watchPods({});
  stream.on("data", ({ type, pod }: WatchPodsEvent) => {
    const { metadata, status: shown } = podOf(pod);
    events.push([EventType[type], metadata?.name, shown?.phase].filter((word) => word !== undefined).join(" "));
  });
  stream.on("error", () => undefined);
  await waitFor(() => events.includes("INITIAL_SYNC_COMPLETE"), { what: "the end of the first list" });
  await node.writeManifest("watched", manifest("watched", [shell("main", IDLE)]));
  const running = await waitForPod(node, "watched", (seen) => seen.status?.phase === "Running", "Running");
  const name = running.metadata.name;
  await waitFor(() => events.includes(`MODIFIED ${name} Running`), { what: "the running pod" });
  assert.match(events.find((event) => event.startsWith(`ADDED ${name}`)) ?? "", / (Pending|Running)$/);
  assert.ok(events.indexOf("INITIAL_SYNC_COMPLETE") < events.findIndex((event) => event.startsWith(`ADDED ${name}`)));

  const read = await get(running.metadata.uid);
  assert.equal(read.metadata?.name, name);
  assert.equal(read.spec?.containers[0]?.name, "main");
  assert.equal(read.status?.podIP, running.status?.podIP);
  const listed = await new Promise<readonly Uint8Array[]>((resolve, reject) => {
    client.listPods({}, (error, reply) => (error === null ? resolve(reply.pods) : reject(error)));
  });
  assert.deepEqual(
    listed.map((bytes) => podOf(bytes).metadata?.name),
    [name],
  );
  await assert.rejects(get("nobody"), (error: ServiceError) => {
    assert.equal(error.code, status.NOT_FOUND);
    assert.equal(error.details, "pod with UID nobody not found");
    return true;
  });

  await node.removeManifest("watched");
  await waitGone(node, "watched");
  await waitFor(() => events.some((event) => event.startsWith(`DELETED ${name}`)), { what: "the removal" });
  stream.cancel();
});
