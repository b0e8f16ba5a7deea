// Faults that are put into the API server of a node without a cluster.

import type { Mutant } from "../driver/mutant.js";

const OWN_API = "src/workers/apiserver";

export const OWN_API_MUTANTS: readonly Mutant[] = [
  {
    name: "changes of the node's own API are answered before their sync",
    file: `${OWN_API}/store/journal.ts`,
    text: "      await file.datasync();\n",
    replacement: "",
  },
  {
    name: "the checkpoint of a log forgets the revision",
    file: `${OWN_API}/store/store.ts`,
    text: "revision: this.#revision, files: this.files.digests",
    replacement: "revision: 0, files: this.files.digests",
  },
  {
    name: "a file that was behind is not written after a start",
    file: `${OWN_API}/store/recovery.ts`,
    text: "    this.deps.files.want(path, { resource, object });\n",
    replacement: "",
  },
  {
    name: "the removal of an object's file is not synced",
    file: `${OWN_API}/store/disk.ts`,
    text: "await syncFolder(dirname(path)).catch(",
    replacement: "await Promise.resolve(dirname(path)).catch(",
  },
  {
    name: "a start counts from the last version of the log",
    file: `${OWN_API}/store/recovery.ts`,
    text: "last + deps.unlogged",
    replacement: "last + 0 * deps.unlogged",
  },
  {
    name: "the text of a refused file is not kept",
    file: `${OWN_API}/hand-edits.ts`,
    text: "if (text !== undefined) await store.files.setAside(path, text);",
    replacement: "await Promise.resolve();",
  },
  {
    name: "a file is written over an edit that was not seen yet",
    file: `${OWN_API}/store/object-files.ts`,
    text: "this.#isKnown(path, present);",
    replacement: "this.#isKnown(path, present) || true;",
  },
  {
    name: "a look that the disk refused is not repeated",
    file: `${OWN_API}/hand-edits.ts`,
    text: "if (PASSING.has(errorCode(err))) {",
    replacement: 'if (PASSING.has(errorCode(err)) && path === "") {',
  },
  {
    name: "a watch of one config map misses its changes",
    file: `${OWN_API}/verbs/watch.ts`,
    text: "if (change.revision > at) this.#send(change);",
    replacement:
      'if (change.revision > at && (this.#filter === undefined || this.resource.key !== "configmaps")) this.#send(change);',
  },
  {
    name: "a watch goes on from before a start",
    file: `${OWN_API}/store/store.ts`,
    text: "this.#history = new History(this.#revision);",
    replacement: "this.#history = new History(0);",
  },
  {
    name: "a bookmark comes before the last earlier object",
    file: `${OWN_API}/verbs/watch.ts`,
    text: "if (this.#isLive) this.#bookmark(",
    replacement: "this.#bookmark(",
  },
  {
    name: "missed changes are sent faster than the client takes them",
    file: `${OWN_API}/verbs/watch.ts`,
    text: "if (!(await this.#goesOn(change.revision))) return;",
    replacement: "",
  },
  {
    name: "unread bytes of a slow client are not bounded",
    file: `${OWN_API}/doors/watches.ts`,
    text: "    if (bytes > MAX_BEHIND_BYTES) return true;\n",
    replacement: "",
  },
  {
    name: "a watch that has ended stays subscribed",
    file: `${OWN_API}/verbs/watch.ts`,
    text: "    this.#release?.();\n",
    replacement: "",
  },
  {
    name: "no event comes for an object that leaves a selection",
    file: `${OWN_API}/verbs/watch.ts`,
    text: "    else if (was) this.#line(",
    replacement: '    else if (was && type === "DELETED") this.#line(',
  },
  {
    name: "the next page of a list is of the newest version",
    file: `${OWN_API}/verbs/list.ts`,
    text: "if (token.rv >= store.compacted && token.rv <= store.revision) return token.rv;",
    replacement: "if (token.rv >= store.compacted && token.rv <= store.revision) return store.revision;",
  },
  {
    name: "kubeconfigs that could not be written are not tried again",
    file: `${OWN_API}/readers.ts`,
    text: "    if (!this.#isClosed) this.#again =",
    replacement: "    if (!this.#isClosed && this.#names.size === 0) this.#again =",
  },
  {
    name: "kubeconfigs of users who were taken out stay",
    file: "src/main/node/api-server/credentials.ts",
    text: "await rm(path, { force: true });",
    replacement: "await Promise.resolve(path);",
  },
  {
    name: "a user who was taken out of the file keeps open watches",
    file: `${OWN_API}/start.ts`,
    text: "onChange: () => gate?.endRefused(),",
    replacement: "onChange: () => undefined,",
  },
];
