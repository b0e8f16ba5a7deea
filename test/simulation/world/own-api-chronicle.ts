// What the API of a node without a cluster had at each version, as the world saw it: the measure of what readers get.
// Versions from before a start of the server belong to an earlier part.

import type { ApiObject } from "../../../src/workers/apiserver/objects/object.js";
import type { Resource } from "../../../src/workers/apiserver/objects/resource.js";
import { keyOf, SELECTIONS, type Follow } from "./own-api-reader.js";
import { versionOf, type OwnApi } from "./own-api.js";

type Selection = Follow["selection"];
type EventType = "ADDED" | "MODIFIED" | "DELETED";

/** Facts about an object: the objects themselves would fill the memory of the run. */
interface State {
  version: number;
  selections: ReadonlySet<Selection>;
}

interface NotedChange {
  version: number;
  key: string;
  /** undefined: the object is gone. */
  state: State | undefined;
  previous: State | undefined;
}

/** From one start of the server to the next. */
interface Part {
  from: number;
  base: ReadonlyMap<string, State>;
  changes: NotedChange[];
}

export interface ExpectedEvent {
  version: number;
  type: EventType;
}

const NAMES = Object.keys(SELECTIONS) as Selection[];

export class Chronicle {
  readonly onChange = new Set<(version: number) => void>();
  private readonly parts: Part[] = [];

  constructor(api: OwnApi, resource: Resource) {
    api.onOpen.add(({ store }) => {
      const base = new Map(store.entries(resource).map(([, object]) => [keyOf(object), stateOf(object)]));
      this.parts.push({ from: store.revision, base, changes: [] });
    });
    api.onAnyChange.add(({ key }, { type, object, previous }, isMade) => {
      if (key !== resource.key || !isMade) return;
      const state = type === "DELETED" ? undefined : stateOf(object);
      const before = previous === undefined ? undefined : stateOf(previous);
      const version = versionOf(object);
      this.parts.at(-1)?.changes.push({ version, key: keyOf(object), state, previous: before });
      for (const listener of this.onChange) listener(version);
    });
  }

  /** Whether a server start lies between these versions. */
  areApart(one: number, other: number): boolean {
    return this.partOf(one) !== this.partOf(other);
  }

  /** The first event that a reader of the selection must get after a version; undefined: there is none yet. */
  next(selection: Selection, after: number): ExpectedEvent | undefined {
    const changes = this.partOf(after)?.changes ?? [];
    let found: ExpectedEvent | undefined;
    for (let at = changes.length - 1; at >= 0; at--) {
      const change = changes[at];
      if (change === undefined || change.version <= after) break;
      const type = eventOf(change, selection);
      if (type !== undefined) found = { version: change.version, type };
    }
    return found;
  }

  /** The versions of the selected objects at a version, by key. */
  at(selection: Selection, version: number): Map<string, number> {
    const { base = new Map<string, State>(), changes = [] } = this.partOf(version) ?? {};
    const states = new Map<string, State>(base);
    for (const change of changes) {
      if (change.version > version) break;
      if (change.state === undefined) states.delete(change.key);
      else states.set(change.key, change.state);
    }
    const selected = [...states].filter(([, { selections }]) => selections.has(selection));
    return new Map(selected.map(([key, state]) => [key, state.version]));
  }

  private partOf(version: number): Part | undefined {
    return this.parts.findLast(({ from }) => from <= version);
  }
}

function eventOf({ state, previous }: NotedChange, selection: Selection): EventType | undefined {
  const was = previous?.selections.has(selection) === true;
  if (state?.selections.has(selection) === true) return was ? "MODIFIED" : "ADDED";
  return was ? "DELETED" : undefined;
}

function stateOf(object: ApiObject): State {
  const selections = new Set(NAMES.filter((name) => SELECTIONS[name].selects(object)));
  return { version: versionOf(object), selections };
}
