// The warning about a pod of a newer API server.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventInput } from "../../../../src/main/model/event-recorder.js";
import { laterFieldsWarnings } from "../../../../src/main/pods/sources/later-fields.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { laterPodSpec } from "../../../support/later-pod.js";

function eventsOf(spec: object, { source = "api", known = false } = {}): EventInput[] {
  const events: EventInput[] = [];
  const metadata = {
    name: "a",
    namespace: "b",
    uid: podUid("c"),
    annotations: { "kubernetes.io/config.source": source },
  };
  const pod = { apiVersion: "v1", kind: "Pod", metadata, spec } as Pod;
  laterFieldsWarnings({ pod: (_, event) => events.push(event) }).accepted?.({ pod, known });
  return events;
}

const SPEC = { containers: [], volumes: [{ name: "v", emptyDir: { mode: 0o755 } }] };

test("a pod of the API server gets one event, with each field and its gate", () => {
  assert.deepEqual(eventsOf(SPEC), [
    {
      type: "Warning",
      reason: "LaterFields",
      message:
        "this kubelet keeps the contract of Kubernetes 1.36 and does not act on fields of 1.37: spec.volumes[0].emptyDir.mode (EmptyDirVolumeMode)",
    },
  ]);
});

test("a pod that the kubelet had before, a static pod and a pod without such fields get none", () => {
  assert.deepEqual(eventsOf(SPEC, { known: true }), []);
  assert.deepEqual(eventsOf(SPEC, { source: "file" }), []);
  assert.deepEqual(eventsOf({ containers: [{ name: "a" }], evictionResponders: [{ name: "x" }] }), []);
});

test("of many fields the message names eight", () => {
  const spec = laterPodSpec({ image: "a", httpPort: 1, grpcPort: 2, withReferences: true });
  const [event, ...others] = eventsOf(spec);
  assert.deepEqual(others, []);
  const text = event?.message ?? "";
  assert.equal(text.match(/spec\./g)?.length, 8);
  assert.match(text, / and \d+ more$/);
});
