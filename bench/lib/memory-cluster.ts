// A kubelet with an API server and a runtime in memory, in the bench's own process. It shows the cost of the kubelet
// itself in bursts of starts and ends of pods. The runtime's calls take as long as containerd's on a slow machine.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { FakeApi } from "../../test/fake-api/fake-api.js";
import { startFakeCri, type FakeCri } from "../../test/fake-cri/fake-cri.js";
import { ApiKit } from "../../test/support/api-kit.js";
import { removeCgroups } from "../../tools/standalone/cgroups.js";
import { prepareKubelet, type KubeletProcess } from "../../tools/standalone/kubelet-process.js";
import { NAMESPACE, NODE_NAME, nodeReady, PodWatch } from "./cluster-under-test.js";
import { markingPod } from "./manifests.js";
import { newCgroup } from "./places.js";
import { removeTree } from "./remove-tree.js";

/** Milliseconds. */
const LATENCY = {
  ...{ RunPodSandbox: 400, CreateContainer: 60, StartContainer: 90 },
  ...{ StopContainer: 120, StopPodSandbox: 150, RemoveContainer: 40, RemovePodSandbox: 40 },
};

export interface MemoryCluster {
  kubelet: KubeletProcess;
  api: FakeApi;
  cri: FakeCri;
  /** Creates pods of one container and waits until they are Ready; returns their names. */
  start(count: number): Promise<string[]>;
  /** Deletes pods and waits until their objects are gone. */
  end(names: readonly string[]): Promise<void>;
}

interface Settings {
  /** Folder of the node. */
  base: string;
  /** TCP port of the read-only server; the next two are the kubelet's too. */
  port: number;
  entry?: string;
  config?: Readonly<Record<string, unknown>>;
  env?: Readonly<Record<string, string>>;
}

let serial = 0;

export async function withMemoryCluster<T>(
  { base, port, entry, config = {}, env = {} }: Settings,
  work: (cluster: MemoryCluster) => Promise<T>,
): Promise<T> {
  await removeTree(base);
  await mkdir(base, { recursive: true });
  const cgroupRoot = await newCgroup();
  await using api = await FakeApi.start({ controllers: true, nodeRestriction: true });
  const client = await ApiKit.fromKubeconfig(await api.kubeconfig({ name: "admin", groups: ["system:masters"] }));
  const kubeconfig = await api.kubeconfig({ name: `system:node:${NODE_NAME}`, groups: ["system:nodes"] });
  const cri = await startFakeCri({ socketPath: join(base, "cri.sock"), latency: LATENCY });
  const kubelet = await prepareKubelet({
    ...{ dir: join(base, "k"), endpoint: cri.endpoint, cgroupRoot, nodeName: NODE_NAME },
    ...{ readOnlyPort: port, healthzPort: port + 1, port: port + 2 },
    ...{ flags: ["--kubeconfig", kubeconfig], config, env },
    ...(entry !== undefined && { entry }),
  });
  try {
    await kubelet.start();
    await kubelet.waitHealthy(60_000);
    await nodeReady(client, NODE_NAME);
    using watch = new PodWatch(client);
    await watch.start();
    return await work({
      ...{ kubelet, api, cri },
      start: async (count) => {
        const names = Array.from({ length: count }, () => `m-${++serial}`);
        await Promise.all(names.map((name) => client.create("pods", podOf(name, base))));
        await Promise.all(names.map((name) => watch.at(name, "ready")));
        return names;
      },
      end: async (names) => {
        await Promise.all(names.map((name) => client.delete("pods", NAMESPACE, name)));
        await Promise.all(names.map((name) => watch.at(name, "gone")));
      },
    });
  } finally {
    await kubelet.end("SIGTERM", 30_000);
    await cri.stop();
    client.close();
    await removeCgroups(cgroupRoot);
    await removeTree(base);
  }
}

function podOf(name: string, marks: string): { metadata: { name: string; namespace: string }; spec: object } {
  const { metadata, spec } = markingPod(name, marks) as { metadata: { name: string }; spec: object };
  return { metadata: { ...metadata, namespace: NAMESPACE }, spec: { ...spec, nodeName: NODE_NAME } };
}
