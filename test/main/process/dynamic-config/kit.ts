// A dynamic configuration over a real folder and a source the test edits.

import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import {
  digestOf,
  type ConfigFiles,
  type Validation,
} from "../../../../src/main/process/dynamic-config/config-files.js";
import type { ConfigEvent, DynamicConfig } from "../../../../src/main/process/dynamic-config/dynamic-config.js";
import { SourceReadError } from "../../../../src/main/process/dynamic-config/errors.js";
import { prepareConfiguration } from "../../../../src/main/process/dynamic-config/prepare.js";
import type { ConfigurationSource, SourceWatch } from "../../../../src/main/process/dynamic-config/source.js";
import type { Clock } from "../../../../src/shared/base/clock/clock.js";
import { keptLog } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const CONFIG = "/etc/kubernetes/kubelet.yaml";

export function configOf(text: string): ConfigFiles {
  return { config: { path: CONFIG, text }, dropIns: [] };
}

export const digest = (text: string): Promise<string> => digestOf(configOf(text));

/** Returns `text`; undefined makes reading fail. `edit` notifies the watchers. */
export class EditedSource implements ConfigurationSource {
  readonly name = "test";
  reads = 0;
  readonly watchers = new Set<() => void>();

  constructor(public text: string | undefined) {}

  edit(text: string | undefined): void {
    this.text = text;
    for (const watcher of this.watchers) watcher();
  }

  read(): Promise<ConfigFiles> {
    this.reads++;
    if (this.text === undefined) return Promise.reject(new SourceReadError(CONFIG, "it does not exist"));
    return Promise.resolve(configOf(this.text));
  }

  watch(onChange: () => void): SourceWatch {
    this.watchers.add(onChange);
    return {
      stop: () => {
        this.watchers.delete(onChange);
        return Promise.resolve();
      },
    };
  }
}

/** Texts that begin with "invalid" are refused. */
export function validate(files: ConfigFiles): Promise<Validation> {
  const text = files.config?.text ?? "";
  return Promise.resolve(
    text.startsWith("invalid") ? { ok: false, problems: [`${CONFIG}:1:1: ${text}`] } : { ok: true },
  );
}

/** On tmpfs if there is one: syncing there costs no disk time. */
export async function storeFolder(t?: TestContext): Promise<string> {
  const folder = await mkdtemp("/dev/shm/nodelet-dyn-").catch(() => mkdtemp(join("/tmp", "nodelet-dyn-")));
  t?.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A node whose agent can be started again and again over one store. */
export class Node {
  readonly events: ConfigEvent[] = [];
  readonly kept = keptLog();
  validations = 0;
  /** Run before the store's folder goes. */
  readonly ends: (() => Promise<void>)[] = [];

  private constructor(
    readonly directory: string,
    readonly source: EditedSource,
    readonly clock: Clock,
  ) {}

  static async make(t: TestContext, text: string | undefined): Promise<Node & { clock: SteppedClock }> {
    const node = new Node(await storeFolder(), new EditedSource(text), new SteppedClock());
    t.after(async () => {
      for (const end of node.ends) await end();
      await rm(node.directory, { recursive: true, force: true });
    });
    return node as Node & { clock: SteppedClock };
  }

  async start(): Promise<DynamicConfig> {
    const dynamic = await prepareConfiguration({
      directory: this.directory,
      source: this.source,
      allowedSources: [],
      validate: (files) => {
        this.validations++;
        return validate(files);
      },
      record: (event) => this.events.push(event),
      clock: this.clock,
      log: this.kept.log,
    });
    this.ends.push(() => dynamic.flush());
    return dynamic;
  }

  /** Starts, and lets the kubelet be healthy for its whole trial. */
  async startAndProve(): Promise<DynamicConfig> {
    const dynamic = await this.start();
    await dynamic.trialPassed(dynamic.active?.digest ?? "none");
    return dynamic;
  }

  path(...names: string[]): string {
    return join(this.directory, "store", ...names);
  }
}

export function textOfActive(dynamic: DynamicConfig): string | undefined {
  return dynamic.files?.config?.text;
}
