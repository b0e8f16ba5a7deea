// The fields of a pod on the status page: none that may be a secret.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { visiblePod } from "../../../../src/workers/server/page/visible-pod.js";

const SECRET = "hunter2";
const POD = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "default", uid: "1", annotations: { a: SECRET }, labels: { app: "web" } },
  spec: {
    containers: [
      {
        name: "app",
        image: "busybox",
        command: ["sh", "-c", SECRET],
        args: [SECRET],
        env: [{ name: "PASSWORD", value: SECRET }],
        resources: { limits: { memory: "1Gi" } },
        livenessProbe: {
          httpGet: { port: 80, path: "/live?token=hunter2", httpHeaders: [{ name: "Authorization", value: SECRET }] },
        },
        readinessProbe: { exec: { command: ["mysqladmin", `-p${SECRET}`, "ping"] }, periodSeconds: 3 },
        lifecycle: { preStop: { exec: { command: [SECRET] } } },
      },
    ],
    initContainers: [
      { name: "init", image: "busybox", env: [{ name: "TOKEN", value: SECRET }], restartPolicy: "Always" },
    ],
    volumes: [
      { name: "data", iscsi: { chapAuth: SECRET } },
      { name: "host", hostPath: { path: "/srv" } },
    ],
    restartPolicy: "Always",
  },
  status: { phase: "Running" },
} as unknown as Pod;

test("values of variables, arguments, queries, headers, annotations and volume sources are left out", () => {
  assert.doesNotMatch(JSON.stringify(visiblePod(POD)), /hunter2/);
});

test("fields that explain a pod's state stay", () => {
  const { metadata, spec, status } = visiblePod(POD);
  assert.deepEqual(metadata, { name: "web", namespace: "default", uid: "1", labels: { app: "web" } });
  const [app] = spec.containers;
  assert.deepEqual(
    [app?.livenessProbe, app?.readinessProbe, app?.resources, app?.lifecycle],
    [
      { httpGet: { port: 80, path: "/live?…" } },
      { exec: { command: ["mysqladmin", "…"] }, periodSeconds: 3 },
      { limits: { memory: "1Gi" } },
      { preStop: {} },
    ],
  );
  assert.equal(spec.initContainers?.[0]?.restartPolicy, "Always");
  assert.deepEqual(spec.volumes, [{ name: "data" }, { name: "host", hostPath: { path: "/srv" } }]);
  assert.deepEqual(status, { phase: "Running" });
});
