// The pods API over a socket: a client that does not read, and a pod that changes while it terminates.

import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { credentials, status, type ServiceError } from "@grpc/grpc-js";
import type { PodSubscriber } from "../../../../src/main/model/pod-events.js";
import { servePodsApi } from "../../../../src/main/node/pods-api/server.js";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import {
  EventType,
  PodsClient,
  type WatchPodsEvent,
} from "../../../../src/shared/kubernetes/plugins/gen/pods.v1alpha1.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { pod } from "../../../support/pods.js";
import { decode } from "../../../support/protobuf-decode.js";
import { keptLog, temporaryFolder } from "../../../support/sources-kit.js";

test("the watch of a client that does not read ends with RESOURCE_EXHAUSTED", async (t) => {
  const directory = await temporaryFolder(t);
  const made = pod({});
  const annotations = { filler: "x".repeat(256 * 1024) };
  const big = { ...made, metadata: { ...made.metadata, annotations }, status: { phase: "Running" as const } };
  let subscriber: PodSubscriber = {};
  const server = await servePodsApi({
    directory,
    pods: { all: () => [], get: () => big },
    subscribe: (given) => (subscriber = given),
    registry: new ThreadRegistry("main"),
    clock: systemClock,
    log: keptLog().log,
  });
  const client = new PodsClient(`unix://${directory}/pods-api.sock`, credentials.createInsecure());
  t.after(async () => {
    client.close();
    await server.stop();
  });
  const stream = client.watchPods({});
  const [first] = (await once(stream, "data")) as [WatchPodsEvent];
  assert.equal(first.type, EventType.INITIAL_SYNC_COMPLETE);
  stream.pause();
  for (let i = 0; i < 200; i++) subscriber.accepted?.({ pod: big, known: true });
  const failed = once(stream, "error") as Promise<[ServiceError]>;
  let events = 0;
  stream.on("data", () => events++);
  const [error] = await failed;
  assert.deepEqual([error.code, error.details], [status.RESOURCE_EXHAUSTED, "watch client channel closed"]);
  assert.ok(events < 200, String(events));
});

test("a terminating pod is shown with its newest definition and its newest status", async (t) => {
  const directory = await temporaryFolder(t);
  const made = pod({});
  const labelled = (state: string) => ({ ...made, metadata: { ...made.metadata, labels: { state } } });
  let known = { ...labelled("old"), status: { phase: "Running" as const, message: "one" } };
  let subscriber: PodSubscriber = {};
  const server = await servePodsApi({
    directory,
    pods: { all: () => [], get: () => known },
    subscribe: (given) => (subscriber = given),
    registry: new ThreadRegistry("main"),
    clock: systemClock,
    log: keptLog().log,
  });
  const client = new PodsClient(`unix://${directory}/pods-api.sock`, credentials.createInsecure());
  t.after(async () => {
    client.close();
    await server.stop();
  });
  const shown = (): Promise<string> =>
    new Promise((resolve, reject) => {
      client.getPod({ podUID: made.metadata.uid }, (error, reply) => {
        if (error !== null) {
          reject(error);
          return;
        }
        const { metadata, status: now } = decode("Pod", reply.pod) as typeof known;
        resolve(`${metadata.labels.state} ${now.message}`);
      });
    });
  subscriber.accepted?.({ pod: known, known: true });
  assert.equal(await shown(), "old one");
  subscriber.redefined?.({ pod: labelled("new") });
  assert.equal(await shown(), "new one");
  known = { ...known, status: { phase: "Running", message: "two" } };
  subscriber.statusChanged?.({ pod: known, status: known.status });
  assert.equal(await shown(), "new two");
});
