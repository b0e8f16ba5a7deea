// A tenant's specs: texts, lists and numbers that the API server accepts, made to keep the kubelet's main thread busy.

import type { Fields } from "../../fake-api/fake-api.js";
import { waitFor } from "../../harness/node.js";
import { size } from "../attack.js";
import { each, hostile, REST, tenantAttack, tenantPod } from "./tenant-kit.js";

const KIB = 1024;
const isWaiting = (container: { state: object }): boolean => "waiting" in container.state;
const VOLUME = { volumes: [{ name: "v", emptyDir: {} }] };

const openBrackets = tenantAttack({
  ...{ name: "variables, arguments and probes with megabytes of $(", seconds: size(4, 15), short: true },
  pods: (bench) =>
    each(size(2, 6), (pod) => {
      const text = "$(".repeat((size(400, 900) * KIB) / 2);
      const probe = { exec: { command: ["echo", text] }, periodSeconds: 1 };
      const fields: Fields[] = [
        { env: [{ name: "A", value: text }] },
        { args: [text] },
        { livenessProbe: probe, readinessProbe: probe },
      ];
      return tenantPod(bench, pod, [hostile("app", REST, fields[Number(pod.at(-1)) % fields.length])]);
    }),
  // A kernel takes no argument that long: the container does not start, but its text was expanded.
  effect: { containers: 1, what: "containers that could not start", holds: isWaiting },
});

const nulSecret = tenantAttack({
  ...{ name: "an image pull Secret of a megabyte of NUL bytes", seconds: size(6, 15) },
  async prepare({ fixture }) {
    const auth = Buffer.concat([Buffer.from("user:"), Buffer.alloc(400 * KIB), Buffer.from("x")]).toString("base64");
    const config = JSON.stringify({ auths: { "127.0.0.1:1": { auth } } });
    const data = { ".dockerconfigjson": Buffer.from(config).toString("base64") };
    fixture.store.put("secrets", { metadata: { name: "nul" }, type: "kubernetes.io/dockerconfigjson", data });
    await Promise.resolve();
  },
  pods: (bench) =>
    each(size(2, 10), (pod) =>
      tenantPod(bench, pod, [hostile("app", REST, { image: "127.0.0.1:1/none:1", imagePullPolicy: "Always" })], {
        imagePullSecrets: [{ name: "nul" }],
      }),
    ),
  effect: { containers: 2, what: "containers whose pull failed", holds: isWaiting },
});

const longLists = tenantAttack({
  ...{ name: "a container with 10,000 ports and mounts", seconds: size(8, 30) },
  pods: (bench) =>
    each(size(1, 4), (pod, index) => {
      const count = size(2_000, 10_000);
      const ports = Array.from({ length: count }, (_, at) => ({ containerPort: 1 + (at % 65_000) }));
      const mounts = Array.from({ length: count }, (_, at) => ({ name: "v", mountPath: `/m/${at % 100}/${at}` }));
      const fields: Fields = index % 2 === 0 ? { ports } : { volumeMounts: mounts };
      return tenantPod(bench, pod, [hostile("app", REST, fields)], VOLUME);
    }),
  effect: { containers: 1, what: "containers", holds: () => true },
});

const manyContainers = tenantAttack({
  ...{ name: "pods with 10,000 containers whose images are not there", seconds: size(8, 60) },
  pods: (bench) =>
    each(size(1, 2), (pod, index) => {
      const fields: Fields = { image: "nodelet.local/none:1", command: ["true"], volumeMounts: [] };
      const containers = Array.from({ length: size(1_000, 10_000) }, (_, at): Fields => {
        const limits = index % 2 === 0 ? {} : { limits: { memory: "1Mi" } };
        return {
          name: `c${at}`,
          imagePullPolicy: "Never",
          ...fields,
          ports: [{ containerPort: 80 }],
          resources: limits,
        };
      });
      return tenantPod(bench, pod, containers, { restartPolicy: "Never" });
    }),
  effect: { containers: 1_000, what: "containers that wait", holds: isWaiting },
});

const manySidecars = tenantAttack({
  ...{ name: "pods with 10,000 sidecars", seconds: size(10, 60) },
  pods: (bench) =>
    each(size(1, 2), (pod) => {
      const initContainers = Array.from({ length: size(1_000, 10_000) }, (_, at) =>
        hostile(`s${at}`, REST, { restartPolicy: "Always", resources: {}, ports: [{ containerPort: 80 }] }),
      );
      return tenantPod(bench, pod, [hostile("app", REST)], { initContainers });
    }),
  effect: { runs: 10 },
});

const hugeGrace = tenantAttack({
  ...{ name: "grace periods of 400,000,000,000 s", seconds: size(4, 15), short: true },
  pods: (bench) =>
    each(size(2, 6), (pod, index) => {
      const deaf = "trap '' TERM; while true; do sleep 1; done";
      const probe = { exec: { command: ["false"] }, periodSeconds: 1, failureThreshold: 1 };
      const graceful = { ...probe, terminationGracePeriodSeconds: 400_000_000_000 };
      const fields: Fields = index % 2 === 0 ? {} : { livenessProbe: graceful };
      return tenantPod(bench, pod, [hostile("app", deaf, fields)], { terminationGracePeriodSeconds: 400_000_000_000 });
    }),
  effect: { runs: 2 },
  // First with the grace of the spec; the end that follows shortens it.
  async beforeEnd({ api, fixture }, names) {
    for (const name of names) await api.delete("pods", "default", name);
    const asked = (name: string): boolean =>
      fixture.store.get("pods", "default", name)?.metadata.deletionTimestamp !== undefined;
    await waitFor(() => names.every(asked), { what: "the deletions to be known" });
  },
});

const bigObjects = tenantAttack({
  ...{ name: "pods with a megabyte of annotations in a downward API volume", seconds: size(6, 15) },
  pods: (bench) =>
    each(size(2, 8), (pod) => {
      const items = [{ path: "all", fieldRef: { fieldPath: "metadata.annotations" } }];
      const made = tenantPod(bench, pod, [hostile("app", REST, { volumeMounts: [{ name: "v", mountPath: "/v" }] })], {
        volumes: [{ name: "v", downwardAPI: { items } }],
      });
      const annotations = { "test/text": '\\"\n'.repeat(80 * KIB) };
      return { ...made, metadata: { ...(made["metadata"] as Fields), annotations } };
    }),
  effect: { runs: 2 },
});

export const TENANT_SPECS = [openBrackets, nulSecret, longLists, manyContainers, manySidecars, hugeGrace, bigObjects];
