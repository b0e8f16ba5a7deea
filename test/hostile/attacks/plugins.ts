// Node plugins that hang, flood and lie, by each of their protocols. While they do, a pod with a device of an honest
// plugin starts.

import { join } from "node:path";
import type { Fields } from "../../fake-api/fake-api.js";
import { waitFor, testImage } from "../../harness/node.js";
import { boundPod, isReady } from "../../support/cluster-node.js";
import { TestDevicePlugin } from "../../support/device-plugin/plugin.js";
import { allocatedClaim } from "../../support/dra/claim.js";
import { HostilePlugins, MEGABYTE } from "../../support/hostile-plugins.js";
import { IDLE } from "../../support/static-pods.js";
import { size, type Attack } from "../attack.js";
import type { HostileBench } from "../bench.js";
import { each } from "./tenant-kit.js";

const GOOD = "good.example.com/device";
const EVIL = "evil.example.com";
const PATIENCE_MS = 120_000;

interface PluginAttack {
  name: string;
  short?: true;
  /** Begins; resolves with what else ends it. */
  begin: (bench: HostileBench, plugins: HostilePlugins) => Promise<(() => Promise<void>) | undefined>;
  /** Requests of the kubelet, or to it, without which the attack proves nothing. */
  least: number;
}

let runs = 0;

function pluginAttack({ name, short, begin, least }: PluginAttack): Attack {
  return {
    ...{ name, family: "node plugin", seconds: size(4, 30) },
    ...(short === undefined ? {} : { short }),
    async start(bench) {
      const { rootDir } = bench.node.kubelet;
      const plugins = new HostilePlugins();
      const good = await TestDevicePlugin.start({ resource: GOOD, rootDir, devices: { a: {}, b: {}, c: {} } });
      const ended = await begin(bench, plugins);
      return {
        async stop() {
          const pod = `honest-${runs++}`;
          try {
            // It registers beside the attack, as it would after a restart.
            await good.register();
            bench.fixture.store.put("pods", withDevice(pod));
            const starts = { what: `${pod} to be Ready`, timeoutMs: PATIENCE_MS };
            await waitFor(() => Promise.resolve(isReady(bench.fixture.store.get("pods", "default", pod))), starts);
            const reached = { what: `${least} requests`, timeoutMs: PATIENCE_MS };
            await waitFor(() => Promise.resolve(plugins.requests >= least), reached);
          } finally {
            await plugins.stop();
            await ended?.();
            await removed(bench, pod);
            await good.stop();
          }
          return `${plugins.requests} requests; a pod with another plugin's device started`;
        },
      };
    },
  };
}

type PodDraft = Fields & { metadata: { name: string } };

function withDevice(name: string): PodDraft {
  const devices = { [GOOD]: "1" };
  return draft(name, {
    containers: [
      {
        ...{ name: "app", image: testImage(), imagePullPolicy: "Never", command: ["/bin/sh", "-c", IDLE] },
        resources: { limits: devices, requests: devices },
      },
    ],
    terminationGracePeriodSeconds: 1,
  });
}

function draft(name: string, spec: Fields): PodDraft {
  return { ...boundPod(name, "", spec), metadata: { name } };
}

async function removed({ api, fixture }: HostileBench, ...names: string[]): Promise<void> {
  const left = (): string[] => names.filter((name) => fixture.store.get("pods", "default", name) !== undefined);
  for (const name of left()) await api.delete("pods", "default", name, { gracePeriodSeconds: 1 });
  const gone = { what: "the pods to go", timeoutMs: PATIENCE_MS, lastSeen: () => left().join(", ") };
  try {
    await waitFor(() => Promise.resolve(left().length === 0), gone);
  } finally {
    for (const name of left()) fixture.store.remove("pods", "default", name);
  }
}

/** Does `work` again and again until the attack is over. */
function again(plugins: HostilePlugins, work: (round: number) => Promise<void>): () => Promise<void> {
  const loop = async (): Promise<void> => {
    for (let round = 0; !plugins.isOver; round++) await work(round);
  };
  const running = loop();
  return () => running;
}

const folderOf = ({ node }: HostileBench): string => join(node.kubelet.rootDir, "plugins_registry");

const deviceFlood = pluginAttack({
  ...{ name: "a device plugin that reports 60,000 devices without pause", short: true, least: 10 },
  async begin({ node }, plugins) {
    const { rootDir } = node.kubelet;
    await plugins.serve(join(rootDir, "device-plugins", "evil.sock"), plugins.floodingDevices(60_000));
    await plugins.register(rootDir, `${EVIL}/flood`, "evil.sock");
    return undefined;
  },
});

const deviceNames = pluginAttack({
  ...{ name: "device plugins under names without end, with sockets of others, none or ..", least: 1000 },
  begin({ node }, plugins) {
    const { rootDir } = node.kubelet;
    const endpoints = ["..", "none.sock", "../plugins/x.sock", "kubelet.sock", "a".repeat(5000), ""];
    // Lanes, because a registration at a socket without a server takes ten seconds.
    const lanes = each(50, (_, lane) =>
      again(plugins, async (round) => {
        const endpoint = endpoints[(lane + round) % endpoints.length] ?? "";
        await plugins.register(rootDir, `${EVIL}/r${lane}-${round}`, endpoint);
      }),
    );
    const ended = async (): Promise<void> => {
      await Promise.all(lanes.map((end) => end()));
    };
    return Promise.resolve(ended);
  },
});

const flapping = pluginAttack({
  ...{
    name: "registration sockets that open and close all the time, hang, and answer with megabytes",
    short: true,
    least: 5,
  },
  async begin(bench, plugins) {
    const folder = folderOf(bench);
    const names = ["../../etc", "..", "a".repeat(60_000), MEGABYTE, "b.example.com"];
    for (const [at, name] of names.entries()) {
      await plugins.serve(join(folder, `name-${at}.sock`), plugins.registration({ name }));
      const versions = { supportedVersions: Array.from({ length: 20_000 }, () => "9.9.9") };
      await plugins.serve(join(folder, `versions-${at}.sock`), plugins.registration(versions));
    }
    for (const at of each(size(20, 200), (_, index) => index)) {
      await plugins.serve(join(folder, `silent-${at}.sock`), plugins.silentRegistration());
    }
    const csi = join(bench.node.kubelet.rootDir, "plugins", EVIL, "csi.sock");
    await plugins.serve(csi, plugins.csi());
    return again(plugins, async (round) => {
      const info = { endpoint: csi, name: round % 3 === 0 ? EVIL : `e${round}.${EVIL}` };
      await plugins.serve(join(folder, "flap.sock"), plugins.registration(info));
      await new Promise((resolve) => setTimeout(resolve, 20));
      await plugins.close(join(folder, "flap.sock"));
    });
  },
});

/** Pods with an inline volume of the driver, and one with a claim, whose volume is staged. */
function csiPods({ fixture }: HostileBench, count: number): string[] {
  const modes = { attachRequired: false, podInfoOnMount: true, volumeLifecycleModes: ["Persistent", "Ephemeral"] };
  fixture.store.put("csidrivers", { metadata: { name: EVIL }, spec: modes });
  const common = { accessModes: ["ReadWriteOnce"], storageClassName: "" };
  const capacity = { storage: "8Mi" };
  const claim = fixture.store.put("persistentvolumeclaims", {
    metadata: { name: "evil", namespace: "default" },
    spec: { ...common, volumeName: "evil", resources: { requests: capacity } },
    status: { phase: "Bound", capacity, accessModes: ["ReadWriteOnce"] },
  });
  fixture.store.put("persistentvolumes", {
    metadata: { name: "evil" },
    spec: {
      ...common,
      capacity,
      claimRef: { namespace: "default", name: "evil", uid: claim.metadata.uid },
      csi: { driver: EVIL, volumeHandle: "evil" },
      persistentVolumeReclaimPolicy: "Retain",
    },
  });
  return each(count, (name, at) => {
    const volume = at === 0 ? { persistentVolumeClaim: { claimName: "evil" } } : { csi: { driver: EVIL } };
    const mount = { volumeMounts: [{ name: "v", mountPath: "/v" }] };
    const app = {
      name: "app",
      image: testImage(),
      imagePullPolicy: "Never",
      command: ["/bin/sh", "-c", IDLE],
      ...mount,
    };
    fixture.store.put("pods", draft(name, { containers: [app], volumes: [{ name: "v", ...volume }] }));
    return name;
  });
}

/** A driver at its two sockets; `handlers` replace its right answers. */
function csiAttack(name: string, handlers: (plugins: HostilePlugins) => Record<string, unknown>, short?: true): Attack {
  return pluginAttack({
    ...{ name, least: 3 },
    ...(short === undefined ? {} : { short }),
    async begin(bench, plugins) {
      const endpoint = join(bench.node.kubelet.rootDir, "plugins", EVIL, "csi.sock");
      await plugins.serve(endpoint, plugins.csi(handlers(plugins)));
      await plugins.serve(join(folderOf(bench), "evil.sock"), plugins.registration({ name: EVIL, endpoint }));
      const pods = csiPods(bench, size(5, 30));
      return async () => {
        // With its answers the driver lets go of what the pods have.
        const honest = new HostilePlugins();
        const quick = { nodeGetVolumeStats: honest.answer({ usage: [], volumeCondition: undefined }) };
        await honest.serve(endpoint, honest.csi(quick));
        await honest.serve(join(folderOf(bench), "evil.sock"), honest.registration({ name: EVIL, endpoint }));
        try {
          await removed(bench, ...pods);
        } finally {
          await honest.stop();
        }
      };
    },
  });
}

const csiHangs = csiAttack(
  "a CSI driver that hangs in NodeStageVolume and NodePublishVolume",
  (plugins) => ({ nodeStageVolume: plugins.hang, nodePublishVolume: plugins.hang }),
  true,
);
const csiMegabytes = csiAttack("a CSI driver that answers with megabytes", (plugins) => {
  const segments = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, at) => [`evil.example.com/k${at}`, "v".repeat(40)]),
  );
  const condition = { abnormal: true, message: MEGABYTE };
  return {
    nodeGetInfo: plugins.answer({
      nodeId: "n".repeat(50_000),
      maxVolumesPerNode: 1n,
      accessibleTopology: { segments },
    }),
    nodeGetCapabilities: plugins.answer({
      capabilities: Array.from({ length: 200_000 }, () => ({ rpc: { type: 2 } })),
    }),
    nodeGetVolumeStats: plugins.answer({ usage: [], volumeCondition: condition }),
  };
});
const csiStats = csiAttack("a CSI driver that hangs in NodeGetVolumeStats", () => ({}));

function draAttack(name: string, prepare: (plugins: HostilePlugins) => unknown): Attack {
  return pluginAttack({
    ...{ name, least: 5 },
    async begin(bench, plugins) {
      const { rootDir } = bench.node.kubelet;
      const endpoint = join(rootDir, "plugins", EVIL, "dra.sock");
      await plugins.serve(endpoint, ...plugins.dra(prepare(plugins)));
      const info = { type: "DRAPlugin", name: EVIL, endpoint, supportedVersions: ["v1.DRAPlugin"] };
      await plugins.serve(join(folderOf(bench), "dra.sock"), plugins.registration(info));
      const { fixture } = bench;
      const pods = each(size(4, 20), (pod) => {
        const app = { name: "app", image: testImage(), imagePullPolicy: "Never", command: ["/bin/sh", "-c", IDLE] };
        fixture.store.put(
          "pods",
          draft(pod, {
            resourceClaims: [{ name: "gpu", resourceClaimName: pod }],
            containers: [{ ...app, resources: { claims: [{ name: "gpu" }] } }],
          }),
        );
        fixture.store.put("resourceclaims", allocatedClaim(fixture, { name: pod, user: pod, driver: EVIL }));
        return pod;
      });
      return async () => {
        const honest = new HostilePlugins();
        const done = (
          call: { request: { claims: { uid: string }[] } },
          answer: (error: null, reply: object) => void,
        ): void =>
          answer(null, { claims: Object.fromEntries(call.request.claims.map(({ uid }) => [uid, { error: "" }])) });
        const [[service, handlers] = [], health] = honest.dra();
        if (service === undefined || health === undefined) throw new Error("a DRA driver has two services");
        await honest.serve(endpoint, [service, { ...handlers, nodeUnprepareResources: done }]);
        await honest.serve(join(folderOf(bench), "dra.sock"), honest.registration(info));
        try {
          await removed(bench, ...pods);
        } finally {
          await honest.stop();
        }
      };
    },
  });
}

const draHangs = draAttack(
  "a DRA driver that hangs in NodePrepareResources and floods reports of health",
  (plugins) => plugins.hang,
);
const draMegabytes = draAttack("a DRA driver that answers with megabytes", (plugins) =>
  plugins.answer({ claims: { [MEGABYTE]: { devices: [], error: MEGABYTE } } }),
);

export const PLUGINS: readonly Attack[] = [
  deviceFlood,
  deviceNames,
  flapping,
  csiHangs,
  csiMegabytes,
  csiStats,
  draHangs,
  draMegabytes,
];
