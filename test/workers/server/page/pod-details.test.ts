// The definition of a pod in its own view: names and references, no values, and bounded lists.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container, Pod, PodSpec } from "../../../../src/shared/kubernetes/api/pod.js";
import { podDetails } from "../../../../src/workers/server/page/pod-details.js";
import { pod } from "../../../support/pods.js";

const SECRET = "hunter2";

function withContainer(fields: Partial<Container>, spec: Partial<PodSpec> = {}): Pod {
  return pod({ containers: [{ name: "app", ...fields }], ...spec });
}

test("variables have their names and references, and no values", () => {
  const details = podDetails(
    withContainer({
      command: [SECRET],
      args: [SECRET],
      env: [
        { name: "PASSWORD", value: SECRET },
        { name: "URL", valueFrom: { secretKeyRef: { name: "db", key: "url" } } },
        { name: "MODE", valueFrom: { configMapKeyRef: { name: "app", key: "mode" } } },
        { name: "IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
        { name: "CPUS", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } },
      ],
      envFrom: [{ secretRef: { name: "more" }, prefix: "X_" }, { configMapRef: { name: "settings" } }],
    }),
  );
  assert.doesNotMatch(JSON.stringify(details), /hunter2/);
  const [app] = details.containers.items;
  assert.deepEqual(app?.env.items, [
    { name: "PASSWORD" },
    { name: "URL", from: "key url of Secret db" },
    { name: "MODE", from: "key mode of ConfigMap app" },
    { name: "IP", from: "field status.podIP" },
    { name: "CPUS", from: "resource limits.cpu" },
  ]);
  assert.deepEqual(app.envFrom, ["all keys of Secret more, with the prefix X_", "all keys of ConfigMap settings"]);
});

test("mounts, ports and security settings of a container are shown", () => {
  const [app] = podDetails(
    withContainer({
      volumeMounts: [
        { name: "data", mountPath: "/data" },
        { name: "conf", mountPath: "/etc/app", readOnly: true, subPath: "app.conf" },
      ],
      ports: [
        { name: "http", containerPort: 8080, hostPort: 80 },
        { containerPort: 53, protocol: "UDP" },
      ],
      securityContext: { privileged: true, runAsUser: 0, capabilities: { add: ["NET_ADMIN"] } },
    }),
  ).containers.items;
  assert.deepEqual(app?.mounts.items, [
    { path: "/data", volume: "data", readOnly: false },
    { path: "/etc/app", volume: "conf, path app.conf", readOnly: true },
  ]);
  assert.deepEqual(app.ports, ["http: 8080/TCP, host port 80", "53/UDP"]);
  assert.deepEqual(app.security, ["privileged", "user 0", "capability NET_ADMIN"]);
});

test("a volume has its source by name; of a source with addresses and options only the kind is shown", () => {
  const { volumes, settings } = podDetails(
    withContainer(
      {},
      {
        volumes: [
          { name: "a", configMap: { name: "app" } },
          { name: "b", secret: { secretName: "db" } },
          { name: "c", hostPath: { path: "/srv" } },
          { name: "d", persistentVolumeClaim: { claimName: "data" } },
          { name: "e", emptyDir: { medium: "Memory" } },
          { name: "f", csi: { driver: "csi.example", volumeAttributes: { token: SECRET } } },
          { name: "g", iscsi: { targetPortal: SECRET, iqn: SECRET, lun: 0 } },
          { name: "h", cephfs: { monitors: [], user: SECRET } },
        ],
        hostNetwork: true,
        serviceAccountName: "web",
      },
    ),
  );
  assert.deepEqual(
    volumes.items.map(({ source }) => source),
    [
      ...["ConfigMap app", "Secret db", "host path /srv", "PersistentVolumeClaim data", "emptyDir, Memory"],
      ...["CSI driver csi.example", "iscsi", "cephfs"],
    ],
  );
  const value = (wanted: string): string | undefined => settings.find(({ name }) => name === wanted)?.value;
  assert.equal(value("Service account"), "web");
  assert.equal(value("Namespaces of the node"), "network");
});

test("long lists and texts are cut, and the number of what is left out is known", () => {
  const env = Array.from({ length: 5000 }, (_, index) => ({ name: `V${index}` }));
  const many = Array.from({ length: 3000 }, (_, index) => ({ name: `c${index}`, env }));
  const details = podDetails(
    pod({ containers: many, volumes: [{ name: "v", hostPath: { path: "x".repeat(100_000) } }] }),
  );
  assert.equal(details.containers.items.length, 100);
  assert.equal(details.containers.more, 2900);
  assert.equal(details.containers.items[0]?.env.more, 4900);
  assert.ok(JSON.stringify(details.volumes).length < 400);
});
