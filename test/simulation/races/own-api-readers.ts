// Programs that follow objects of a node's own API: slow ones, some that were away, and users who lose their rights.

import { kernel } from "../kernel/kernel.js";
import { PLAIN_NODE, type NodeShape } from "../world/node-shape.js";
import type { Follow } from "../world/own-api-reader.js";
import type { ApiReaders } from "../world/own-api-readers.js";
import { API_FOLDER } from "../world/own-store.js";
import type { World } from "../world/world.js";
import { SECOND, type Race } from "./race.js";

const HERE = "docs/simulation.md";
const node: NodeShape = { ...PLAIN_NODE, hasOwnApi: true, hasApiReaders: true };
const STAYS_MS = 200 * SECOND;
const KIB = 700;

function fill(name: string, times: number) {
  return { do: "map-filled", name, kib: KIB, times } as const;
}

function follow(more: Partial<Follow>) {
  const plain: Follow = {
    ...{ resource: "configmaps", selection: "all", begins: "list", as: "admin", bookmarks: true, timeoutSeconds: 600 },
    ...more,
  };
  return { do: "objects-followed", follow: plain, leavesMs: STAYS_MS } as const;
}

function readersOf({ own }: World): ApiReaders {
  if (own?.readers === undefined) throw new Error("the node has no readers");
  return own.readers;
}

const bookmarkWhileListing: Race = {
  name: "bookmark-while-listing",
  promise:
    "A watch whose client reads its first objects for more than a minute sends no bookmark before it has them all",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, fill("big-0", 1)],
    [21 * SECOND, fill("big-1", 1)],
    [22 * SECOND, fill("big-2", 1)],
    [40 * SECOND, follow({ begins: "stream", paceMs: 25 * SECOND })],
    [50 * SECOND, { do: "map-set", name: "map-0", value: "one" }],
  ],
  watch(world, broken) {
    let listedAt = 0;
    let last = 0;
    readersOf(world).listeners.add({
      listed: () => void (listedAt = kernel.monotonic),
      event: (reader) => void (last = reader.objects.size),
    });
    return () => {
      if (listedAt < 101 * SECOND || listedAt > 140 * SECOND) broken(`the race did not come about: ${listedAt}`);
      if (last < 3) broken(`the reader has ${last} objects`);
    };
  },
};

const awayForLong: Race = {
  name: "away-for-long",
  promise: "A client that was away gets all that it has missed in one watch, though that is more than it may be behind",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, fill("big-0", 1)],
    [40 * SECOND, follow({ paceMs: 100, bookmarks: false })],
    [50 * SECOND, { do: "followers-cut", awayMs: 20 * SECOND }],
    [55 * SECOND, fill("big-0", 9)],
  ],
  watch(world, broken) {
    const seen: string[] = [];
    let cuts = 0;
    readersOf(world).listeners.add({
      event: (_, { type }) => void seen.push(type),
      answered: (_reader, _verb, status) => void (status === 0 && cuts++),
    });
    return () => {
      if (seen.length !== 9 || cuts > 0) broken(`${seen.join(" ")} came, and ${cuts} watches were cut`);
    };
  },
};

const slowerThanTheHistory: Race = {
  name: "slower-than-the-history",
  promise: "A client that reads its first objects more slowly than the history lasts gets 410, and then all of them",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, fill("big-0", 1)],
    [21 * SECOND, fill("big-1", 1)],
    [40 * SECOND, follow({ begins: "stream", paceMs: 5 * SECOND })],
    [41 * SECOND, fill("big-2", 14)],
  ],
  watch(world, broken) {
    let expired = 0;
    let has = 0;
    readersOf(world).listeners.add({
      expired: () => void expired++,
      listed: (reader) => void (has = reader.objects.size),
    });
    return () => {
      if (expired === 0) broken("the race did not come about");
      if (has < 3) broken(`the reader has ${has} objects`);
    };
  },
};

const slowBesideFast: Race = {
  name: "slow-beside-fast",
  promise: "A client that takes nothing loses its watch at 4 MiB, and another one has each change at once",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, fill("big-0", 1)],
    [80 * SECOND, follow({ paceMs: 100 * SECOND })],
    [81 * SECOND, follow({})],
    [190 * SECOND, fill("big-0", 10)],
  ],
  watch(world, broken) {
    let cuts = 0;
    let events = 0;
    readersOf(world).listeners.add({
      answered: ({ follow: { paceMs } }, _, status) => void (paceMs !== undefined && status === 0 && cuts++),
      event: ({ follow: { paceMs } }, { type }) => void (paceMs === undefined && type !== "BOOKMARK" && events++),
    });
    return () => {
      if (cuts !== 1) broken(`the race did not come about: ${cuts} watches were cut`);
      if (events !== 10) broken(`the other client has ${events} changes`);
    };
  },
};

const takenOutWhileDown: Race = {
  name: "taken-out-while-down",
  promise:
    "A user who is taken out of the file of readers while no server runs has no rights after it, nor a kubeconfig",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, { do: "viewers-named", names: ["viewer-0", "viewer-1"] }],
    [40 * SECOND, follow({ as: "viewer-0" })],
    [41 * SECOND, follow({ as: "viewer-1" })],
    [60 * SECOND, { do: "kill", downMs: 5 * SECOND }],
    [62 * SECOND, { do: "viewers-named", names: ["viewer-1"] }],
  ],
  watch(world, broken) {
    const readers = readersOf(world);
    const answers = new Map<string, number>();
    readers.listeners.add({ answered: ({ follow: { as } }, _, status) => void answers.set(as, status) });
    return () => {
      if (answers.get("viewer-0") !== 403) broken(`viewer-0 has ${answers.get("viewer-0")}`);
      if (answers.get("viewer-1") !== 200) broken(`viewer-1 has ${answers.get("viewer-1")}`);
      if (readers.hasKubeconfig("viewer-0")) broken("viewer-0 has a kubeconfig");
      if (!readers.hasKubeconfig("viewer-1")) broken("viewer-1 has no kubeconfig");
    };
  },
};

const takenOutWhileWatching: Race = {
  name: "taken-out-while-watching",
  promise: "A user who is taken out of the file of readers loses the watch that is open",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, { do: "viewers-named", names: ["viewer-0"] }],
    [40 * SECOND, follow({ as: "viewer-0" })],
    [60 * SECOND, { do: "viewers-named", names: [] }],
  ],
  watch(world, broken) {
    const readers = readersOf(world);
    const seen: number[] = [];
    readers.listeners.add({ answered: (_reader, _verb, status) => void seen.push(status) });
    return () => {
      const [list, watch, cut, ...others] = seen;
      if (list !== 200 || watch !== 200) broken(`the race did not come about: ${list} ${watch}`);
      if (cut !== 0 || others.length === 0 || others.some((status) => status !== 403))
        broken(`${cut} ${others.join(" ")} came after that`);
    };
  },
};

const namedOnAFullDisk: Race = {
  name: "named-on-a-full-disk",
  promise: "A user who is named while the disk is full gets a kubeconfig as soon as there is room",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, { do: "disk", kind: "ENOSPC", share: 1, ms: 10 * SECOND, below: `${API_FOLDER}/.tmp-viewer-0` }],
    [22 * SECOND, { do: "viewers-named", names: ["viewer-0"] }],
  ],
  watch(world, broken) {
    let refused = 0;
    world.onLog.add(({ msg }) => {
      if (msg.startsWith("readers have no kubeconfig")) refused++;
    });
    return () => {
      if (refused !== 1) broken(`the race did not come about: ${refused} lines in the log`);
      if (!readersOf(world).hasKubeconfig("viewer-0")) broken("viewer-0 has no kubeconfig");
    };
  },
};

const pagesWhileChanging: Race = {
  name: "pages-while-changing",
  promise: "Pages of a list are of the version of the first one, though objects change and go meanwhile",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, fill("big-0", 1)],
    [21 * SECOND, fill("big-1", 1)],
    [22 * SECOND, fill("big-2", 1)],
    [23 * SECOND, { do: "map-set", name: "map-0", value: "one" }],
    [24 * SECOND, { do: "map-set", name: "map-1", value: "one" }],
    [40 * SECOND, follow({ begins: "pages", paceMs: 5 * SECOND })],
    [42 * SECOND, { do: "map-set", name: "map-1", value: "two" }],
    [43 * SECOND, { do: "map-removed", name: "map-0" }],
  ],
  watch(world, broken) {
    const listed: number[] = [];
    readersOf(world).listeners.add({ listed: (_reader, _version, objects) => void listed.push(objects.length) });
    return () => {
      if (listed.join() !== "5") broken(`lists of ${listed.join()} objects came`);
    };
  },
};

export const OWN_API_READER_RACES: readonly Race[] = [
  bookmarkWhileListing,
  awayForLong,
  slowerThanTheHistory,
  slowBesideFast,
  takenOutWhileDown,
  takenOutWhileWatching,
  namedOnAFullDisk,
  pagesWhileChanging,
];
