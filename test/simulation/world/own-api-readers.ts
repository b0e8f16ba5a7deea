// Programs that follow objects of the API of a node without a cluster: they come and leave, lose their connections, and
// some read slowly. Users write large config maps meanwhile, and change the file of those who may only look.

import { readerNames } from "../../../src/shared/contracts/apiserver.js";
import { disk } from "../disk/machine-disk.js";
import { kernel } from "../kernel/kernel.js";
import type { Trace } from "../kernel/trace.js";
import type { OwnApiClient } from "./own-api-client.js";
import { ApiReader, type Follow, type ReaderEvents } from "./own-api-reader.js";
import { API_FOLDER, writeFile } from "./own-store.js";

export const LARGE_MAPS = ["big-0", "big-1", "big-2"];
export const VIEWERS = ["viewer-0", "viewer-1"];

export type ApiReaderAction =
  | { do: "objects-followed"; follow: Follow; leavesMs: number }
  /** All connections of readers break. */
  | { do: "followers-cut"; awayMs: number }
  /** The file has these names. */
  | { do: "viewers-named"; names: readonly string[] }
  /** A config map is written so often, one after the other, with a label that changes each time. */
  | { do: "map-filled"; name: string; kib: number; times: number };

const FILE = `${API_FOLDER}/readers`;
const MAPS = "/api/v1/namespaces/default/configmaps";

export class ApiReaders {
  /** Those that have not left. */
  readonly open = new Set<ApiReader>();
  readonly listeners = new Set<Partial<ReaderEvents>>();
  /** Steady moment at which the file was written last. */
  namedAt = 0;
  private fills = 0;

  constructor(
    private readonly client: OwnApiClient,
    private readonly trace: Trace,
  ) {}

  perform(action: ApiReaderAction): void {
    switch (action.do) {
      case "objects-followed":
        this.follow(action.follow, action.leavesMs);
        return;
      case "followers-cut":
        for (const reader of this.open) reader.cut(action.awayMs);
        return;
      case "viewers-named":
        this.namedAt = kernel.monotonic;
        writeFile(FILE, action.names.map((name) => `${name}\n`).join(""));
        return;
      case "map-filled":
        this.fill(action.name, action.kib, action.times);
    }
  }

  /** The names in the file. A loss of power may have taken some. */
  named(): readonly string[] {
    return disk.tree.exists(FILE) ? readerNames(disk.tree.lookUp(FILE, "read").data.toString()) : [];
  }

  hasKubeconfig(name: string): boolean {
    return disk.tree.exists(`${API_FOLDER}/${name}.kubeconfig`);
  }

  private follow(follow: Follow, leavesMs: number): void {
    const reader = new ApiReader(follow, {
      listed: (...told) => this.tell((one) => one.listed?.(...told)),
      event: (...told) => this.tell((one) => one.event?.(...told)),
      expired: (...told) => this.tell((one) => one.expired?.(...told)),
      early: (...told) => this.tell((one) => one.early?.(...told)),
      answered: (...told) => this.tell((one) => one.answered?.(...told)),
    });
    this.open.add(reader);
    kernel.after(kernel.world, leavesMs, () => {
      reader.leave();
      this.open.delete(reader);
      const { resource, selection, as } = follow;
      this.trace.add(`${as} leaves ${resource} ${selection} at ${reader.version}: ${reader.objects.size} objects`);
    });
  }

  private tell(about: (listener: Partial<ReaderEvents>) => void): void {
    for (const listener of this.listeners) about(listener);
  }

  private fill(name: string, kib: number, times: number): void {
    if (times === 0) return;
    const labels = { turn: times % 2 === 0 ? "even" : "odd" };
    const data = { value: `${++this.fills}${"v".repeat(kib * 1024)}` };
    const next = (): void => this.fill(name, kib, times - 1);
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels }, data };
    this.client.ask(name, { method: "PUT", path: `${MAPS}/${name}`, body }, ({ status }) => {
      if (status === 404) this.client.ask(name, { method: "POST", path: MAPS, body }, next);
      else next();
    });
  }
}
