// `nodelet why` about what a pod lacks in the API: one row a case. Names of keys are evidence; values never are.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { testImage, waitFor } from "../harness/node.js";
import type { Fields } from "../support/api-kit.js";
import { boundPod, isReady, NODE_NAME, startClusterNode, type ClusterNode } from "../support/cluster-node.js";
import { nodelet } from "../support/nodelet-command.js";
import { explained, listedAs, type Expected } from "../support/why-command.js";

/** A value of the objects: no output of `why` has it. */
const VALUE = "value-that-nobody-may-see";

interface Row extends Expected {
  container?: Fields;
  spec?: Fields;
}

const ON_REAL_SERVER = process.env["KUBECONFIG"] !== undefined;
const variable = (source: Fields) => ({ env: [{ name: "URL", valueFrom: source }] });
const volume = (source: Fields): Fields => ({ volumes: [{ name: "v", ...source }] });
const mounted = { volumeMounts: [{ name: "v", mountPath: "/v" }] };

const ROWS: Record<string, Row> = {
  "no-config-map": {
    container: variable({ configMapKeyRef: { name: "absent", key: "url" } }),
    words: [/it cannot be started \(CreateContainerConfigError\): configmap "absent" not found/, /create the missing/],
  },
  "no-secret": {
    container: { envFrom: [{ secretRef: { name: "absent" } }] },
    words: [/CreateContainerConfigError.*secret "absent" not found/, /create the missing ConfigMap or Secret/],
  },
  "no-key": {
    container: variable({ configMapKeyRef: { name: "app", key: "url" } }),
    words: [
      /it cannot be started \(CreateContainerConfigError\): the key "url" is not in the ConfigMap default\/app/,
      /keys of the ConfigMap default\/app: \| host \| port /,
      /add the key "url" to the ConfigMap default\/app/,
    ],
    never: [/create the missing/],
  },
  "no-secret-key": {
    container: variable({ secretKeyRef: { name: "login", key: "token" } }),
    words: [/the key "token" is not in the Secret default\/login/, /keys of the Secret default\/login: \| password /],
  },
  "no-file": {
    container: mounted,
    spec: volume({ configMap: { name: "app", items: [{ key: "ca.crt", path: "ca.crt" }] } }),
    words: [/volume v: the key "ca\.crt" is not in the ConfigMap default\/app/, /: \| host \| port /],
  },
  "no-projected-file": {
    container: mounted,
    spec: volume({ projected: { sources: [{ secret: { name: "login", items: [{ key: "user", path: "u" }] } }] } }),
    words: [/volume v: the key "user" is not in the Secret default\/login/, /: \| password /],
  },
  "no-volume-object": {
    container: mounted,
    spec: volume({ secret: { secretName: "absent" } }),
    words: [/volume v: .*secret "absent" not found/, /create the missing object/],
  },
  "claim-of-class": {
    container: mounted,
    spec: volume({ persistentVolumeClaim: { claimName: "of-class" } }),
    words: [
      /volume v: its claim default\/of-class is not bound to a volume \(Pending\); storage class: fast/,
      /requests: 1Gi, ReadWriteOnce/,
      /the class fast must exist, and its provisioner must run: kubectl get storageclass fast/,
      /kubectl describe pvc -n default of-class/,
    ],
    never: [/see its log/],
  },
  "claim-without-class": {
    container: mounted,
    spec: volume({ persistentVolumeClaim: { claimName: "classless" } }),
    words: [
      /its claim default\/classless is not bound .*storage class: none/,
      /create a PersistentVolume that fits it \(2Gi, ReadOnlyMany\)/,
    ],
  },
};

function claim(name: string, spec: Fields, mode: string, storage: string): Fields {
  return {
    metadata: { name, namespace: "default" },
    spec: { accessModes: [mode], resources: { requests: { storage } }, ...spec },
  };
}

describe("nodelet why", () => {
  let cluster: ClusterNode;

  before(async () => {
    cluster = await startClusterNode();
    const { api } = cluster;
    const named = (name: string) => ({ metadata: { name, namespace: "default" } });
    await api.create("configmaps", { ...named("app"), data: { host: VALUE, port: VALUE } });
    await api.create("secrets", { ...named("login"), stringData: { password: VALUE } });
    await api.create("persistentvolumeclaims", claim("of-class", { storageClassName: "fast" }, "ReadWriteOnce", "1Gi"));
    await api.create("persistentvolumeclaims", claim("classless", { storageClassName: "" }, "ReadOnlyMany", "2Gi"));
    for (const [name, { container = {}, spec = {} }] of Object.entries(ROWS)) {
      const app = {
        name: "app",
        image: testImage(),
        imagePullPolicy: "Never",
        command: ["sleep", "1000"],
        ...container,
      };
      await api.create("pods", boundPod(name, "", { containers: [app], ...spec }));
    }
  });
  after(async () => {
    const { api } = cluster;
    for (const name of Object.keys(ROWS)) await api.delete("pods", "default", name, { gracePeriodSeconds: 0 });
    for (const name of ["of-class", "classless"]) await api.delete("persistentvolumeclaims", "default", name);
    await api.delete("configmaps", "default", "app");
    await api.delete("secrets", "default", "login");
    await cluster.stop();
  });

  test(
    "the API server that does not respond is named, since when, with what still works and what to do",
    { skip: ON_REAL_SERVER },
    async () => {
      const { api, node, fixture } = cluster;
      await api.create("pods", boundPod("steady", "while :; do sleep 1; done"));
      await api.waitFor("pods", "default", "steady", isReady, { what: "steady Ready" });
      const stoppedAt = Date.now();
      await fixture?.stop();
      const words = [
        /the API server https:\/\/\S+ does not respond to this node: .+for \d+s/,
        /Pods of this node keep running, with their probes and restarts, and static pods still start and end/,
        /check the API server, its address in the kubeconfig, .*`curl -k https:\/\/\S+\/readyz` shows whether/,
      ];
      const why = await explained(node, "steady", {
        code: 0,
        words: [/^default\/steady is running and ready node: the API server/, ...words],
      });
      const [, seconds = ""] = /for (\d+)s/.exec(why) ?? [];
      assert.ok(Number(seconds) * 1000 <= Date.now() - stoppedAt + 1000, seconds);
      const status = await nodelet(node, "status");
      assert.equal(status.code, 1);
      const line = status.stdout.replace(/\s+/g, " ");
      for (const word of words) assert.match(line, word);
      const absent = await nodelet(node, "why", "made-meanwhile");
      assert.equal(absent.code, 1);
      assert.match(
        absent.stderr,
        /this node has no pod made-meanwhile, and the API server does not respond to this node for/,
      );
      // A kubelet that starts meanwhile knows no pod of the API yet; it says so, and nothing ends.
      await node.restart();
      await waitFor(
        async () => /learns of the API's pods when it is back/.test((await nodelet(node, "why", "steady")).stderr),
        {
          what: "why of a pod that the kubelet does not know yet",
        },
      );
      assert.match(
        (await nodelet(node, "status")).stdout.replace(/\s+/g, " "),
        /the API server https:\S+ does not respond/,
      );
      await fixture?.restart();
      await explained(node, "steady", { code: 0, words: [/is running and ready its history/] });
      await api.delete("pods", "default", "steady", { gracePeriodSeconds: 0 });
    },
  );

  describe("explains", { concurrency: true }, () => {
    for (const [name, row] of Object.entries(ROWS)) {
      test(`the pod ${name}`, async () => {
        const text = await explained(cluster.node, name, row);
        await listedAs(cluster.node, name, row.code === 0);
        assert.ok(!text.includes(VALUE) && !text.includes(Buffer.from(VALUE).toString("base64")));
      });
    }
  });

  test(
    "an API server that answers, and has no Node of this name, is not called silent",
    { skip: ON_REAL_SERVER },
    async () => {
      cluster.fixture?.store.remove("nodes", "", NODE_NAME);
      await waitFor(
        async () =>
          /the API server https:\S+ refuses the requests of this node: .*not found/.test(
            (await nodelet(cluster.node, "status")).stdout.replace(/\s+/g, " "),
          ),
        { what: "status to name the refusal" },
      );
    },
  );
});
