// imagePullSecrets reach the runtime: containerd, or with NODELET_TEST_RUNTIME=docker the Docker Engine behind the
// kubelet's own CRI server.
// @promise Cluster: imagePullSecrets reach the runtime; a wrong password's message is the registry's.

import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { testImage, waitFor } from "../harness/node.js";
import { boundPod, startClusterNode, type ClusterNode } from "../support/cluster-node.js";
import { PASSWORD, startRegistry, USER, type TestRegistry } from "../support/registry.js";

const TIMEOUT_MS = 60_000;

interface Seen {
  phase?: string;
  containerStatuses?: { state?: { waiting?: { reason?: string; message?: string } } }[];
}

suite("imagePullSecrets", () => {
  let cluster: ClusterNode;
  let registry: TestRegistry;

  before(async () => {
    registry = await startRegistry({ auth: true });
    const archive = process.env["NODELET_TEST_IMAGES"] ?? "";
    for (const repository of ["right", "wrong"])
      await registry.push({ archive, source: testImage(), repository, tag: "1", padding: 100 });
    cluster = await startClusterNode();
  });
  after(async () => {
    await cluster.stop();
    await registry.stop();
  });

  async function run(name: string, password: string): Promise<void> {
    const auth = Buffer.from(`${USER}:${password}`).toString("base64");
    const config = JSON.stringify({ auths: { [registry.address]: { auth } } });
    await cluster.api.create("secrets", {
      metadata: { name, namespace: "default" },
      type: "kubernetes.io/dockerconfigjson",
      data: { ".dockerconfigjson": Buffer.from(config).toString("base64") },
    });
    const container = {
      ...{ name: "app", image: `${registry.address}/${name}:1`, imagePullPolicy: "Always" },
      command: ["sh", "-c", "trap 'exit 0' TERM; while :; do sleep 0.1; done"],
    };
    await cluster.api.create("pods", boundPod(name, "", { containers: [container], imagePullSecrets: [{ name }] }));
  }

  async function until(name: string, what: string, holds: (status: Seen) => boolean): Promise<Seen> {
    let seen: Seen = {};
    await waitFor(
      async () => {
        seen = ((await cluster.api.get("pods", "default", name)) as { status?: Seen }).status ?? {};
        return holds(seen);
      },
      { what: `pod ${name}: ${what}`, timeoutMs: TIMEOUT_MS, lastSeen: () => JSON.stringify(seen) },
    );
    return seen;
  }

  test("the image is pulled with the secret's password", async () => {
    await run("right", PASSWORD);
    await until("right", "running", ({ phase }) => phase === "Running");
  });

  test("with a wrong password the pod waits, and the message is the registry's", async () => {
    await run("wrong", "guessed");
    const waiting = ({ containerStatuses }: Seen) => containerStatuses?.[0]?.state?.waiting;
    const status = await until("wrong", "the failed pull", (seen) => /ImagePull/.test(waiting(seen)?.reason ?? ""));
    assert.match(waiting(status)?.message ?? "", /wrong:1.*(401|unauthorized|authorization)/is);
  });
});
