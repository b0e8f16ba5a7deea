// Lists of sandboxes and containers that do not fit into one message: a tenant chooses the size of a pod's labels and
// annotations. Such a list is had pod by pod.
// Invariant: a pod whose own part is too large is left out and reported; it hides no other pod. So is one whose large
// part does not fit beside the others: a list by parts has a bound, too.

import { podUid, sandboxIdOf, type PodUid, type SandboxId } from "../identifiers.js";
import { CriResourceExhaustedError } from "./errors.js";
import type { Container, ContainerFilter, PodSandboxFilter } from "./gen/runtime.v1.js";
import type { CallOptions, CriCalls } from "./verbs.js";

type Lists = Pick<CriCalls, "listPodSandbox" | "listContainers">;

export interface ListsByPartsOptions {
  /** Pods that may have a sandbox. The containers' list gives further ones. */
  podUids?: () => Promise<readonly PodUid[]>;
  /** A list is had by parts from now on, or not any more. */
  onParts?: (list: ListName, by: { parts: boolean; leftOut: LeftOut }) => void;
}

/** Whose part is too large. */
interface LeftOut {
  readonly pods: readonly PodUid[];
  /** Sandboxes whose pod is not known. */
  readonly sandboxes: readonly SandboxId[];
}

export type ListName = "sandboxes" | "containers";

const POD_UID_LABEL = "io.kubernetes.pod.uid";
/** Calls at once. */
const TOGETHER = 8;
/** After so many lists by parts the whole list is tried again: each try may transfer a message that is refused. */
const TRY_WHOLE = 30;

export function listsByParts(calls: Lists, { podUids, onParts }: ListsByPartsOptions): Lists {
  const sandboxes = new Fallback("sandboxes", onParts);
  const containers = new Fallback("containers", onParts);

  const ofUid = (uid: PodUid, filter: Partial<PodSandboxFilter>, options?: CallOptions) => {
    const labelSelector = { ...filter.labelSelector, [POD_UID_LABEL]: uid };
    return calls.listPodSandbox({ filter: { ...filter, labelSelector } }, options);
  };
  const sandboxParts = async (filter: Partial<PodSandboxFilter>, options?: CallOptions) => {
    const byUid = await inParts(await (podUids ?? none)(), async (uid) => (await ofUid(uid, filter, options)).items);
    const known = new Set(byUid.items.map(({ id }) => sandboxIdOf(id)));
    const others = (await sandboxesOfContainers(calls, options)).filter((id) => !known.has(id));
    const byId = await inParts(
      others,
      async (id) => (await calls.listPodSandbox({ filter: { ...filter, id } }, options)).items,
    );
    return {
      reply: { items: [...byUid.items, ...byId.items] },
      leftOut: { pods: byUid.leftOut, sandboxes: byId.leftOut },
    };
  };
  const listPodSandbox: Lists["listPodSandbox"] = async (request, options) => {
    const filter = (request.filter ?? {}) as Partial<PodSandboxFilter>;
    const whole = () => calls.listPodSandbox(request, options);
    if (isOnePod(filter.labelSelector) || (filter.id ?? "") !== "") return whole();
    return sandboxes.list(whole, () => sandboxParts(filter, options));
  };
  const listContainers: Lists["listContainers"] = async (request, options) => {
    const filter = (request.filter ?? {}) as Partial<ContainerFilter>;
    const whole = () => calls.listContainers(request, options);
    if (isOnePod(filter.labelSelector) || [filter.id, filter.podSandboxId].some((id) => (id ?? "") !== ""))
      return whole();
    return containers.list(whole, async () => {
      const { items } = await listPodSandbox({}, options);
      const uids = new Map(items.map(({ id, labels }) => [sandboxIdOf(id), labels[POD_UID_LABEL]]));
      const found = await inParts([...uids.keys()], async (podSandboxId): Promise<Container[]> => {
        return (await calls.listContainers({ filter: { ...filter, podSandboxId } }, options)).containers;
      });
      const leftOut = {
        pods: found.leftOut.flatMap((id) => uids.get(id) ?? []).map(podUid),
        sandboxes: found.leftOut.filter((id) => uids.get(id) === undefined),
      };
      return { reply: { containers: found.items }, leftOut };
    });
  };
  return { listPodSandbox, listContainers };
}

/** Characters of all parts, and of those that are large. The thread with the lists has a heap of 192 MiB. */
const SUM_LIMIT = 96 * 1024 * 1024;
const LARGE_SUM_LIMIT = 80 * 1024 * 1024;
const LARGE = 64 * 1024;

interface Parts<Key, Item> {
  items: Item[];
  leftOut: Key[];
}

/** One list: whole while that is possible. */
class Fallback {
  /** Lists by parts until the whole list is tried again; undefined: the last list came whole. */
  private left: number | undefined;
  private told = "";

  constructor(
    private readonly name: ListName,
    private readonly onParts: ListsByPartsOptions["onParts"],
  ) {}

  async list<Reply>(
    whole: () => Promise<Reply>,
    byParts: () => Promise<{ reply: Reply; leftOut: LeftOut }>,
  ): Promise<Reply> {
    if (this.left === undefined || this.left <= 0) {
      try {
        const reply = await whole();
        if (this.left !== undefined) this.reportParts(false, { pods: [], sandboxes: [] });
        this.left = undefined;
        return reply;
      } catch (error) {
        if (!(error instanceof CriResourceExhaustedError)) throw error;
        this.left = TRY_WHOLE;
      }
    }
    this.left -= 1;
    const { reply, leftOut } = await byParts();
    this.reportParts(true, leftOut);
    return reply;
  }

  private reportParts(parts: boolean, leftOut: LeftOut): void {
    const text = JSON.stringify([parts, leftOut]);
    if (text === this.told) return;
    this.told = text;
    this.onParts?.(this.name, { parts, leftOut });
  }
}

/** What a list has in labels and annotations, and about as much for the rest of an item. */
interface Texts {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

async function inParts<Key extends string, Item extends Texts>(
  keys: readonly Key[],
  list: (key: Key) => Promise<Item[]>,
): Promise<Parts<Key, Item>> {
  const parts: Parts<Key, Item> = { items: [], leftOut: [] };
  let sum = 0;
  const one = async (key: Key): Promise<void> => {
    try {
      const items = await list(key);
      const size = items.reduce((all, item) => all + sizeOf(item), 0);
      if (sum + size > (size > LARGE ? LARGE_SUM_LIMIT : SUM_LIMIT)) parts.leftOut.push(key);
      else {
        sum += size;
        for (const item of items) parts.items.push(item);
      }
    } catch (error) {
      if (!(error instanceof CriResourceExhaustedError)) throw error;
      parts.leftOut.push(key);
    }
  };
  for (let at = 0; at < keys.length; at += TOGETHER) await Promise.all(keys.slice(at, at + TOGETHER).map(one));
  return parts;
}

function sizeOf({ labels, annotations }: Texts): number {
  let size = 1024;
  for (const texts of [labels, annotations]) {
    for (const [name, value] of Object.entries(texts)) size += name.length + value.length;
  }
  return size;
}

/** Empty where the containers do not fit into one message either. */
async function sandboxesOfContainers(calls: Lists, options?: CallOptions): Promise<SandboxId[]> {
  try {
    const { containers } = await calls.listContainers({}, options);
    return [...new Set(containers.map(({ podSandboxId }) => sandboxIdOf(podSandboxId)))];
  } catch (error) {
    if (!(error instanceof CriResourceExhaustedError)) throw error;
    return [];
  }
}

function isOnePod(labels: Readonly<Record<string, string>> | undefined): boolean {
  return labels?.[POD_UID_LABEL] !== undefined;
}

function none(): Promise<readonly PodUid[]> {
  return Promise.resolve([]);
}
