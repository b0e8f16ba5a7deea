// A node whose cluster assigns its configuration: a real store, own files and an API server's voice in memory.

import { rm } from "node:fs/promises";
import type { TestContext } from "node:test";
import { ClusterSource } from "../../../../src/main/process/dynamic-config/cluster-source.js";
import type { ConfigFiles, ConfigText } from "../../../../src/main/process/dynamic-config/config-files.js";
import type { ConfigEvent, DynamicConfig } from "../../../../src/main/process/dynamic-config/dynamic-config.js";
import { SourceReadError } from "../../../../src/main/process/dynamic-config/errors.js";
import { prepareConfiguration } from "../../../../src/main/process/dynamic-config/prepare.js";
import type { ConfigSource } from "../../../../src/shared/contracts/node-status.js";
import type { ConfigMapReference } from "../../../../src/shared/kubernetes/api/config-source.js";
import { keptLog } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { storeFolder, validate } from "./kit.js";

const OWN = "/etc/kubernetes/kubelet.yaml";

export function reference(resourceVersion: string): ConfigMapReference {
  return { namespace: "kube-system", name: "workers", kubeletConfigKey: "kubelet", uid: "u1", resourceVersion };
}

export class ClusterNode {
  readonly clock = new SteppedClock();
  readonly events: ConfigEvent[] = [];
  readonly dropIns: ConfigText[] = [];
  /** What the node-status thread has said to this process and will say to the next; undefined: nothing yet. */
  private said: ConfigSource | undefined;
  private running: DynamicConfig | undefined;
  /** --dynamic-config-sources from the next start on. */
  allowed: readonly string[] = ["kube-system/workers"];

  constructor(
    readonly directory: string,
    /** Text of the file of --config; undefined: it cannot be read. */
    public own: string | undefined,
  ) {}

  static async make(t: TestContext, own: string | undefined): Promise<ClusterNode> {
    const node = new ClusterNode(await storeFolder(), own);
    t.after(async () => {
      await node.end();
      await rm(node.directory, { recursive: true, force: true });
    });
    return node;
  }

  get dynamic(): DynamicConfig {
    if (this.running === undefined) throw new Error("the node has not started");
    return this.running;
  }

  assign(text: string, resourceVersion = "1", other: Partial<ConfigMapReference> = {}): void {
    this.say({ kind: "config-map", reference: { ...reference(resourceVersion), ...other }, text, pinned: false });
  }
  /** The node-status thread refused the assignment before it read anything. */
  refuse(problem: string): void {
    this.say({ kind: "unavailable", problem });
  }
  unassign(): void {
    this.say({ kind: "local" });
  }
  fail(problem: string, wanted: Partial<ConfigMapReference> = {}): void {
    const { namespace, name, kubeletConfigKey } = reference("");
    this.say({ kind: "unavailable", wanted: { namespace, name, kubeletConfigKey, ...wanted }, problem });
  }
  /** The API server is away from the next start on. */
  silence(): void {
    this.said = undefined;
  }

  /**
   * A start reads the source before the API server was heard; for brevity the assignment is there already, unless
   * silenced.
   */
  async start(): Promise<DynamicConfig> {
    const files = (): Promise<ConfigFiles> =>
      this.own === undefined
        ? Promise.reject(new SourceReadError(OWN, "it does not exist"))
        : Promise.resolve({ config: { path: OWN, text: this.own }, dropIns: [...this.dropIns] });
    const local = {
      read: files,
      readDropIns: () => Promise.resolve([...this.dropIns]),
      watch: () => ({ stop: () => Promise.resolve() }),
    };
    const source = new ClusterSource(local, this.allowed);
    if (this.said !== undefined) source.assigned(this.said);
    this.running = await prepareConfiguration({
      directory: this.directory,
      source,
      allowedSources: this.allowed,
      validate,
      record: (event) => this.events.push(event),
      clock: this.clock,
      log: keptLog().log,
    });
    return this.running;
  }

  async restart(): Promise<DynamicConfig> {
    await this.end();
    return await this.start();
  }

  /** Its trial passes. */
  async prove(): Promise<void> {
    await this.dynamic.trialPassed(this.dynamic.active?.digest ?? "none");
  }

  async end(): Promise<void> {
    await this.running?.flush();
  }

  private say(source: ConfigSource): void {
    this.said = source;
    this.running?.assigned(source);
  }
}
