import assert from "node:assert/strict";
import { test } from "node:test";
import { MOST_REFERENCES, notedReferences, referencesOf } from "../../../../src/main/cluster/objects/references.js";
import { container, pod } from "../../../support/pods.js";

test("all objects that a pod refers to, and those of its volumes", () => {
  const { configMaps, secrets, trustBundles } = referencesOf(
    pod({
      imagePullSecrets: [{ name: "pull" }, {}],
      initContainers: [container("i", { envFrom: [{ secretRef: { name: "s-init" } }] })],
      containers: [
        container("a", {
          envFrom: [{ configMapRef: { name: "c-env" } }, { configMapRef: { name: "both" } }],
          env: [
            { name: "A", value: "x" },
            { name: "B", valueFrom: { configMapKeyRef: { name: "c-key", key: "k" } } },
            { name: "C", valueFrom: { secretKeyRef: { name: "s-key", key: "k" } } },
          ],
        }),
      ],
      ephemeralContainers: [container("e", { envFrom: [{ configMapRef: { name: "c-eph" } }] })],
      volumes: [
        { name: "v1", configMap: { name: "both" } },
        { name: "v2", secret: { secretName: "s-vol" } },
        {
          name: "v3",
          projected: {
            sources: [
              { configMap: { name: "c-proj" } },
              { secret: { name: "s-proj" } },
              { clusterTrustBundle: { name: "t", path: "p" } },
            ],
          },
        },
        { name: "v4", csi: { driver: "d", nodePublishSecretRef: { name: "s-csi" } } },
        { name: "v5", emptyDir: {} },
      ],
    }),
  );
  const volumesOf = (references: typeof configMaps): string[] =>
    [...references].map(([name, { inVolume }]) => `${name}${inVolume ? " in volume" : ""}`).sort();
  assert.deepEqual(volumesOf(configMaps), ["both in volume", "c-env", "c-eph", "c-key", "c-proj in volume"]);
  assert.deepEqual(volumesOf(secrets), ["pull", "s-csi", "s-init", "s-key", "s-proj in volume", "s-vol in volume"]);
  assert.equal(trustBundles, true);
  assert.equal(referencesOf(pod()).trustBundles, false);
});

test("of thousands of references 1,024 are noted, those of volumes first", () => {
  const spec = {
    imagePullSecrets: Array.from({ length: 3000 }, (_, at) => ({ name: `pull-${at}` })),
    volumes: [{ name: "v", secret: { secretName: "of-volume" } }],
  };
  const noted = notedReferences(referencesOf(pod(spec)).secrets);
  assert.equal(noted.size, MOST_REFERENCES);
  assert.deepEqual([...noted.keys()].slice(0, 2), ["of-volume", "pull-0"]);
  const few = referencesOf(pod({ imagePullSecrets: [{ name: "pull" }] })).secrets;
  assert.equal(notedReferences(few), few);
});
