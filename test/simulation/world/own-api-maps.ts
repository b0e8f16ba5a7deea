// Config maps that users of a node without a cluster write, with kubectl and with editors of their files. An editor
// writes in steps, and syncs nothing: a power loss may take its text.

import { textOf } from "../../../src/workers/apiserver/store/object-file.js";
import { disk } from "../disk/machine-disk.js";
import { kernel } from "../kernel/kernel.js";
import type { Trace } from "../kernel/trace.js";
import type { OwnApiClient } from "./own-api-client.js";
import type { OwnApi } from "./own-api.js";
import { objectFile, OBJECTS, writeFile } from "./own-store.js";

export const MAPS = ["map-0", "map-1", "map-2", "map-3"];

/** What an editor does to the file. */
type EditedWith = "value" | "half" | "rule" | "removal";

export type MapChange =
  | { do: "map-set"; name: string; value: string }
  | { do: "map-removed"; name: string }
  /** `how`: in place, by a new file over the old one, or with the old one moved away first. */
  | { do: "file-edited"; name: string; how: "in-place" | "renamed" | "moved-away"; what: EditedWith; value: string };

/** An editor has closed the file. */
export interface HandEdit {
  name: string;
  path: string;
  what: EditedWith;
  value: string;
  text: string;
  beganAt: number;
  endedAt: number;
}

/** Steps of an editor, ms. */
const STEP_MS = 20;
/** The server has taken an edit after this time, or has set it aside. */
export const SETTLED_MS = 8000;

export class OwnApiMaps {
  readonly onEdited = new Set<(edit: HandEdit) => void>();
  /** When kubectl last changed each map. */
  readonly askedAt = new Map<string, number>();
  /** Files that an editor has written, until file and object agree; a crash may leave either, or none. */
  private readonly doubts = new Set<string>();

  constructor(
    private readonly api: OwnApi,
    private readonly client: OwnApiClient,
    private readonly trace: Trace,
  ) {}

  /** @param path below the folder of objects */
  isInDoubt(path: string): boolean {
    return this.doubts.has(path);
  }

  perform(change: MapChange): void {
    const { name } = change;
    if (change.do === "file-edited") {
      this.edit(change);
      return;
    }
    const folder = "/api/v1/namespaces/default/configmaps";
    const note = (): void => void this.askedAt.set(name, kernel.monotonic);
    note();
    if (change.do === "map-removed") this.client.ask(name, { method: "DELETE", path: `${folder}/${name}` }, note);
    else {
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { value: change.value } };
      this.client.ask(name, { method: "PATCH", path: `${folder}/${name}`, body }, ({ status }) => {
        note();
        if (status === 404) this.client.ask(name, { method: "POST", path: folder, body }, note);
      });
    }
  }

  private edit({ name, how, what, value }: Extract<MapChange, { do: "file-edited" }>): void {
    const path = `configmaps/default/${name}.json`;
    const text = objectFile(path);
    // A rule that was broken while no server ran is not asked at its start: such a map has no value.
    if (text?.includes('"value": ') !== true || this.doubts.has(path)) return;
    this.doubts.add(path);
    this.trace.add(`editor ${path} ${what} ${how}`);
    const beganAt = kernel.monotonic;
    const written = edited(text, what, value);
    const steps = what === "removal" ? [removal(path)] : stepsOf(how, path, written);
    steps.push(() => {
      const endedAt = kernel.monotonic;
      for (const listener of this.onEdited) listener({ name, path, what, value, text: written, beganAt, endedAt });
    });
    steps.forEach((step, index) => kernel.after(kernel.world, index * STEP_MS, step));
    this.settle(path);
  }

  private settle(path: string): void {
    kernel.after(kernel.world, SETTLED_MS, () => {
      const [, namespace = "", file = ""] = path.split("/");
      const object = this.api.store.get("configmaps", namespace, file.replace(/\.json$/, ""));
      const isSame = objectFile(path) === (object === undefined ? undefined : textOf(object));
      if (isSame && this.api.listening() !== undefined) this.doubts.delete(path);
      else this.settle(path);
    });
  }
}

function edited(text: string, what: EditedWith, value: string): string {
  switch (what) {
    case "half":
      return text.slice(0, text.length / 2);
    case "rule":
      return text.replace(/"value": "[^"]*"/, `"no key": "${value}"`);
    default:
      return text.replace(/"value": "[^"]*"/, `"value": "${value}"`);
  }
}

function removal(path: string): () => void {
  return () => ifThere(path, () => disk.tree.unlink(`${OBJECTS}/${path}`));
}

function stepsOf(how: "in-place" | "renamed" | "moved-away", path: string, text: string): (() => void)[] {
  const whole = `${OBJECTS}/${path}`;
  switch (how) {
    case "in-place":
      // A large text comes in two writes.
      return [() => writeFile(whole, text.slice(0, text.length / 3)), () => writeFile(whole, text)];
    case "renamed":
      return [
        () => writeFile(`${whole}.new`, text),
        () => ifThere(`${path}.new`, () => disk.tree.rename(`${whole}.new`, whole)),
      ];
    case "moved-away":
      return [
        () => ifThere(path, () => disk.tree.rename(whole, `${whole}~`)),
        () => writeFile(whole, text),
        () => ifThere(`${path}~`, () => disk.tree.unlink(`${whole}~`)),
      ];
  }
}

/** A crash of the machine may have taken it. */
function ifThere(path: string, act: () => void): void {
  if (objectFile(path) !== undefined) act();
}
