// The node under attack: the whole kubelet on its own containerd, in the cluster of the fixture's API server, with the
// authenticated port open; beside the attacks run a normal pod and a normal operator. Invariant: each attack begins on
// a node that is well; one that an attack broke is thrown away.

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sleep } from "../../tools/standalone/wait.js";
import type { FakeApi } from "../fake-api/fake-api.js";
import type { NodeOptions, TestNode } from "../harness/node.js";
import type { ApiKit } from "../support/api-kit.js";
import { statusOf } from "../support/cluster-node.js";
import {
  nodeKubeconfig,
  podIn,
  settled,
  startFaultyCluster,
  unready,
  type FaultyCluster,
} from "../support/faulty-cluster.js";
import type { Attack, Row } from "./attack.js";
import { BYSTANDER, bystanderPod } from "./bystander.js";
import { DirectProcess, type DirectTarget } from "./direct.js";
import { Meter } from "./meter.js";
import { Operator } from "./operator.js";

/** For a node to be well again after an attack. */
const RECOVERY_MS = 60_000;

export interface HostileBenchOptions {
  /** More options of the node; `dir` is the bench's folder. */
  configure?: (dir: string) => NodeOptions;
  /** Runs when the node is laid out and its runtime is there, before the kubelet's first start. */
  beforeStart?: (node: TestNode, dir: string) => Promise<void>;
  afterStop?: () => void;
}

export class HostileBench {
  readonly stamps: string;
  /**
   * Directory in which pods of attacks write a line for each run of a container. This evidence does not need the
   * kubelet.
   */
  readonly evidence: string;

  private constructor(
    readonly dir: string,
    private readonly cluster: FaultyCluster,
    readonly operator: Operator,
    readonly direct: DirectProcess,
    private readonly afterStop: (() => void) | undefined,
  ) {
    this.stamps = join(dir, "stamps");
    this.evidence = join(dir, "evidence");
  }

  static async start({ configure, beforeStart, afterStop }: HostileBenchOptions = {}): Promise<HostileBench> {
    const dir = await mkdtemp(join(tmpdir(), "nodelet-hostile-"));
    const node = configure?.(dir);
    for (const name of ["stamps", "evidence"]) await mkdir(join(dir, name), { mode: 0o777 });
    const cluster = await startFaultyCluster({
      node: {
        containerd: "own",
        secure: true,
        start: false,
        ...node,
        config: {
          podPidsLimit: 256,
          authentication: { anonymous: { enabled: false }, webhook: { enabled: true } },
          ...node?.config,
        },
      },
      join: async (fixture) => {
        const ca = join(dir, "client-ca.crt");
        await writeFile(ca, fixture.ca);
        return [`--kubeconfig=${await nodeKubeconfig(fixture)}`, `--client-ca-file=${ca}`];
      },
    });
    let direct: DirectProcess | undefined;
    try {
      await beforeStart?.(cluster.node, dir);
      await cluster.node.restart();
      const pair = cluster.fixture.clientCertificate("operator", ["system:masters"]);
      const { secureUrl: url } = cluster.node.kubelet;
      const { endpoint, containerd } = cluster.node;
      direct = await DirectProcess.start(dir, containerd?.endpoint ?? endpoint, pair);
      const { cert, key } = pair;
      const operator = new Operator({ url, directUrl: direct.url, cert, key, pod: BYSTANDER, container: "app" });
      const bench = new HostileBench(dir, cluster, operator, direct, afterStop);
      cluster.fixture.store.put("pods", { ...bystanderPod(bench.stamps), metadata: { name: BYSTANDER } });
      return bench;
    } catch (error) {
      await direct?.stop();
      await cluster.stop();
      throw error;
    }
  }

  get fixture(): FakeApi {
    return this.cluster.fixture;
  }

  get api(): ApiKit {
    return this.cluster.api;
  }

  get node(): TestNode {
    return this.cluster.node;
  }

  /** The authenticated port. */
  get port(): number {
    return Number(new URL(this.node.kubelet.secureUrl).port);
  }

  /** One attack, from a node that is well to its end. */
  async run(attack: Attack): Promise<Row> {
    await settled("the normal pod", () => unready(this.fixture, [BYSTANDER]));
    this.direct.probe(this.victim());
    const meter = await Meter.begin(this, RECOVERY_MS);
    let did: string;
    let problem: string | undefined;
    try {
      const running = await attack.start(this);
      for (let left = attack.seconds * 10; left > 0 && !meter.hasDied; left--) await sleep(100);
      did = await running.stop();
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
      did = "–";
    }
    const row = await meter.end(attack, did, RECOVERY_MS);
    if (problem !== undefined) row.broken.push(`the attack itself: ${problem.slice(0, 300)}`);
    return row;
  }

  /** The normal pod's first container, as the API server has it. */
  private victim(): DirectTarget {
    const { podIP: podIp = "", containerStatuses = [] } = statusOf(podIn(this.fixture, BYSTANDER));
    const { containerID = "" } = containerStatuses.find(({ name }) => name === "app") ?? {};
    return { containerId: containerID.slice(containerID.indexOf("://") + 3), podIp };
  }

  async stop(): Promise<void> {
    await this.operator.stop();
    await this.direct.stop();
    await this.cluster.stop();
    this.afterStop?.();
    await rm(this.dir, { recursive: true, force: true });
  }
}
