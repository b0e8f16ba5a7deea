// Images whose pulls take their time, layer by layer. The layers that a pull has fetched before it was cut stay with
// the runtime: the next pull of the image goes on from them, or finds them locked or broken, as containerd says it.
// Invariant: the runtime lists an image only when it has all layers.

import { Fault } from "../../fake-cri/fault.js";
import { makeImage } from "../../fake-cri/images.js";
import type { Random } from "../kernel/random.js";
import type { Trace } from "../kernel/trace.js";
import type { NodeShape } from "./node-shape.js";
import type { SimulatedRuntime } from "./runtime.js";

export const LAYERED_IMAGES = ["a", "b", "c", "d", "e", "f"].map((name) => `layers.example.com/${name}:1`);
/** What the runtime calls them. */
export const LAYERED_IDS: ReadonlySet<string> = new Set(LAYERED_IMAGES.map((name) => makeImage(name).id));

/** How many pulls run at once: one, as serializeImagePulls has it, maxParallelImagePulls, or any number. */
export type PullLimit = "one" | "two" | "any";

/** What happens in the middle of the next pull of such an image. */
export type PullCut = { do: "pull-cut"; fault: CutFault };
type CutFault =
  | { do: "kill"; downMs: number }
  | { do: "runtime-restart"; ms: number }
  | { do: "reboot"; downMs: number };

const LAYERS = 4;
const MOST_LAYER_MS = 8000;
/** Part of the pulls after a cut one that fail. */
const LOCKED = 0.2;
const BROKEN = 0.2;
/** Part of all nodes. */
const SHARE = 0.3;
const FIELDS: Readonly<Record<PullLimit, object>> = {
  one: {},
  two: { serializeImagePulls: false, maxParallelImagePulls: 2 },
  any: { serializeImagePulls: false },
};

export function withPulls(shape: NodeShape, random: Random): NodeShape {
  // Sizes of images are chosen on short disks, and no user wants these.
  if (!random.chance(SHARE) || shape.disks !== undefined) return shape;
  return withPullLimit(shape, random.pick(["one", "one", "two", "any"] as const));
}

export function withPullLimit(shape: NodeShape, pulls: PullLimit): NodeShape {
  return { ...shape, pulls, fields: { ...shape.fields, ...FIELDS[pulls] } };
}

export class ImageLayers {
  /** Complete layers of images that are not whole. */
  readonly left = new Map<string, number>();
  private cuts: CutFault[] = [];

  constructor(
    private readonly random: Random,
    { settings }: SimulatedRuntime,
    private readonly trace: Trace,
    private readonly act: (fault: CutFault) => void,
  ) {
    for (const image of LAYERED_IMAGES) settings.registry.set(image, {});
    settings.fetch = (reference, sleep) => this.fetch(reference, sleep);
  }

  perform({ fault }: PullCut): void {
    this.cuts.push(fault);
  }

  /** Faults are over. */
  clear(): void {
    this.cuts = [];
  }

  /** Layers that were not synced are lost. */
  reboot(): void {
    for (const [reference, layers] of this.left) this.left.set(reference, this.random.below(layers + 1));
  }

  private async fetch(reference: string, sleep: (ms: number) => Promise<void>): Promise<void> {
    if (!LAYERED_IMAGES.includes(reference)) return;
    this.failAfterACut(reference);
    for (let layer = this.left.get(reference) ?? 0; layer < LAYERS; layer++) {
      await sleep(this.random.between(50, MOST_LAYER_MS));
      this.left.set(reference, Math.max(layer + 1, this.left.get(reference) ?? 0));
      const cut = layer < LAYERS - 1 ? this.cuts.shift() : undefined;
      if (cut === undefined) continue;
      this.trace.add(`the pull of ${reference} is cut after layer ${layer + 1}`);
      this.act(cut);
    }
    this.left.delete(reference);
  }

  private failAfterACut(reference: string): void {
    if (!this.left.has(reference)) return;
    const share = this.random.next();
    if (share >= LOCKED + BROKEN) return;
    const isLocked = share < LOCKED;
    if (!isLocked) this.left.delete(reference);
    const layer = `layer-sha256:${"1".repeat(64)}`;
    const why = isLocked
      ? `failed to copy: ref ${layer} locked for 5.1s (since 2026-01-01): unavailable`
      : `failed to extract ${layer}: unexpected EOF: unknown`;
    throw new Fault("UNKNOWN", `failed to pull and unpack image "${reference}": ${why}`);
  }
}
