// Server-side apply: the fields of an applied configuration, who owns them, and the merge into the object.
// Only appliers are in managedFields. Another write that changes a field takes it from its applier.

import { quote } from "../../../shared/base/text/quote.js";
import { ApiError, badRequest } from "../objects/errors.js";
import { jsonText } from "../objects/json.js";
import { copyOf, fieldOf, isFields, isSame, setField, type ApiObject, type Fields } from "../objects/object.js";
import { defaultKey, itemId, ListIndex, placesOf } from "./list-index.js";
import { mergeKeysOf, SCALARS } from "./merge-keys.js";

interface Entry {
  manager: string;
  operation: "Apply";
  apiVersion: string;
  time: string;
  fieldsType: "FieldsV1";
  fieldsV1: Fields;
}

/** Names of fields and items, as FieldsV1 has them; "" for the value itself. */
type Path = readonly string[];

const NEVER_OWNED = ["name", "namespace", "uid", "resourceVersion", "creationTimestamp", "managedFields", "generation"];
const MOST_MANAGERS = 32;

/** Makes of the stored object what an applier wants of it. @throws ApiError for conflicts */
export function applied(
  old: ApiObject,
  config: ApiObject,
  { manager, force, time }: { manager: string; force: boolean; time: string },
): ApiObject {
  const next = copyOf(old);
  const entries = entriesOf(old);
  const own = leavesOf(config, config.kind);
  const mine = new Set(own.map(({ path }) => idOf(path)));
  const conflicts: { manager: string; path: Path }[] = [];
  const lists = new ListIndex();
  const others = entries
    .filter((entry) => entry.manager !== manager)
    .map((entry) => {
      const taken = new Set<string>();
      for (const path of pathsOf(entry.fieldsV1)) {
        if (!mine.has(idOf(path)) || isSame(valueAt(old, path, lists), valueAt(config, path, lists))) continue;
        conflicts.push({ manager: entry.manager, path });
        taken.add(idOf(path));
      }
      return without(entry, taken);
    });
  if (conflicts.length > 0 && !force) throw conflictOf(conflicts);
  const kept = new Set(others.flatMap(({ fieldsV1 }) => pathsOf(fieldsV1).map(idOf)));
  const before = entries.find((entry) => entry.manager === manager);
  // Fields that this applier drops, and that no other manager owns, are removed.
  const dropped = before === undefined ? [] : pathsOf(before.fieldsV1);
  removeAll(
    next,
    dropped.filter((path) => !mine.has(idOf(path)) && !kept.has(idOf(path))),
  );
  mergeInto(next, config, config.kind, "");
  const fieldsV1: Fields = {};
  for (const { path } of own) addPath(fieldsV1, path);
  const unchanged =
    before !== undefined &&
    isSame(before.fieldsV1, fieldsV1) &&
    isSame({ ...next, metadata: { ...next.metadata, managedFields: old.metadata["managedFields"] } }, old);
  const entry: Entry = {
    manager,
    operation: "Apply",
    apiVersion: config.apiVersion,
    time: unchanged ? before.time : time,
    fieldsType: "FieldsV1",
    fieldsV1,
  };
  setEntries(next, [...others.filter(({ fieldsV1: fields }) => Object.keys(fields).length > 0), entry]);
  return next;
}

/** Fields that another write changed are no longer their appliers'. */
export function dropChanged(next: ApiObject, old: ApiObject): void {
  const entries = entriesOf(old);
  if (entries.length === 0) {
    Reflect.deleteProperty(next.metadata, "managedFields");
    return;
  }
  const lists = new ListIndex();
  const left = entries.map((entry) => {
    const changed = pathsOf(entry.fieldsV1).filter(
      (path) => !isSame(valueAt(old, path, lists), valueAt(next, path, lists)),
    );
    return changed.length === 0 ? entry : without(entry, new Set(changed.map(idOf)));
  });
  setEntries(
    next,
    left.filter(({ fieldsV1 }) => Object.keys(fieldsV1).length > 0),
  );
}

function entriesOf({ metadata }: ApiObject): Entry[] {
  const { managedFields } = metadata;
  return Array.isArray(managedFields) ? copyOf(managedFields as unknown[]).filter(isEntry) : [];
}

/** Files are edited by hand. */
function isEntry(value: unknown): value is Entry {
  return isFields(value) && typeof value["manager"] === "string" && isFields(value["fieldsV1"]);
}

function setEntries(object: ApiObject, entries: readonly Entry[]): void {
  if (entries.length > MOST_MANAGERS) throw badRequest(`an object has at most ${MOST_MANAGERS} field managers`);
  if (entries.length === 0) Reflect.deleteProperty(object.metadata, "managedFields");
  else object.metadata["managedFields"] = entries;
}

function conflictOf(conflicts: readonly { manager: string; path: Path }[]): ApiError {
  const shown = conflicts.map(({ manager, path }) => ({ manager, field: shownPath(path) }));
  const [first] = shown;
  const one = first === undefined ? "" : `conflict with ${JSON.stringify(first.manager)}: ${first.field}`;
  const lines = shown.map(({ manager, field }) => `conflicts with ${JSON.stringify(manager)}:\n- ${field}`).join("\n");
  const text =
    shown.length === 1
      ? `Apply failed with 1 conflict: ${one}`
      : `Apply failed with ${shown.length} conflicts: ${lines}`;
  const causes = shown.map(({ manager, field }) => ({
    reason: "FieldManagerConflict",
    message: `conflict with ${JSON.stringify(manager)}`,
    field,
  }));
  return new ApiError(409, "Conflict", text, { causes });
}

function shownPath(path: Path): string {
  return path
    .map((part) => {
      if (part.startsWith("f:")) return `.${part.slice(2)}`;
      const keys = Object.entries(JSON.parse(part.slice(2)) as Fields).map(
        ([name, value]) => `${name}=${JSON.stringify(value)}`,
      );
      return part.startsWith("k:") ? `[${keys.join(",")}]` : `[=${part.slice(2)}]`;
    })
    .join("");
}

const idOf = (path: Path): string => path.join("\0");

/** The paths of all values that are no maps and no keyed lists, and of the items of those. */
function leavesOf(config: ApiObject, kind: string): { path: Path }[] {
  const found: { path: Path }[] = [];
  const visit = (value: unknown, path: Path, at: string): void => {
    if (isFields(value) && Object.keys(value).length > 0) {
      for (const [name, inner] of Object.entries(value)) {
        if (at === "" && ["apiVersion", "kind"].includes(name)) continue;
        if (at === "metadata" && NEVER_OWNED.includes(name)) continue;
        visit(inner, [...path, `f:${name}`], at === "" ? name : `${at}.${name}`);
      }
      return;
    }
    const keys = Array.isArray(value) ? mergeKeysOf(kind, at) : undefined;
    if (keys === undefined) found.push({ path });
    else {
      for (const item of value as unknown[]) {
        const part = itemPart(item, keys, at);
        found.push({ path: [...path, part] });
        if (isFields(item))
          for (const [name, inner] of Object.entries(item)) visit(inner, [...path, part, `f:${name}`], `${at}.${name}`);
      }
    }
  };
  visit(config, [], "");
  return found;
}

/** "k:" with the keys of an item, or "v:" with an item of a set. */
function itemPart(item: unknown, keys: readonly string[], at: string): string {
  if (keys[0] === SCALARS) return `v:${jsonText(item)}`;
  if (!isFields(item)) throw badRequest(`${at}: an item of this list is a map`);
  const named = keys.map((key) => [key, item[key] ?? defaultKey(key)] as const);
  if (named[0]?.[1] === undefined)
    throw badRequest(
      `${at}: element: associative list with keys has an element that omits key field ${quote(keys[0] ?? "")}`,
    );
  return `k:${jsonText(Object.fromEntries(named))}`;
}

/** An item counts by its keys alone: its fields have paths of their own. */
function valueAt(object: unknown, path: Path, lists: ListIndex): unknown {
  let value = object;
  for (const part of path) value = childAt(value, part, lists);
  return path.at(-1)?.startsWith("k:") === true ? value !== undefined : value;
}

function childAt(parent: unknown, part: string, lists: ListIndex): unknown {
  if (part.startsWith("f:")) return isFields(parent) ? fieldOf(parent, part.slice(2)) : undefined;
  const list: unknown[] = Array.isArray(parent) ? parent : [];
  const index = lists.indexOf(list, part);
  return index < 0 ? undefined : list[index];
}

/** Items are found by the keys that they had, and leave their lists at the end. */
function removeAll(object: ApiObject, paths: readonly Path[]): void {
  const lists = new ListIndex();
  const gone = new Map<unknown[], Set<number>>();
  const fields: { parent: Fields; name: string }[] = [];
  for (const path of paths) {
    let parent: unknown = object;
    for (const part of path.slice(0, -1)) parent = childAt(parent, part, lists);
    const last = path.at(-1) ?? "";
    if (isFields(parent) && last.startsWith("f:")) fields.push({ parent, name: last.slice(2) });
    if (!Array.isArray(parent)) continue;
    const index = lists.indexOf(parent, last);
    if (index >= 0) gone.set(parent, (gone.get(parent) ?? new Set<number>()).add(index));
  }
  for (const { parent, name } of fields) Reflect.deleteProperty(parent, name);
  for (const [list, indexes] of gone) {
    let kept = 0;
    for (const [at, item] of list.entries()) if (!indexes.has(at)) list[kept++] = item;
    list.length = kept;
  }
}

function mergeInto(target: Fields, config: Fields, kind: string, at: string): void {
  for (const [name, value] of Object.entries(config)) {
    if (at === "metadata" && name !== "name" && NEVER_OWNED.includes(name)) continue;
    const below = at === "" ? name : `${at}.${name}`;
    const held = fieldOf(target, name);
    const keys = Array.isArray(value) ? mergeKeysOf(kind, below) : undefined;
    if (isFields(value)) {
      const into: Fields = isFields(held) ? held : {};
      setField(target, name, into);
      mergeInto(into, value, kind, below);
    } else if (keys !== undefined) {
      const list: unknown[] = Array.isArray(held) ? held : [];
      setField(target, name, list);
      mergeItems(list, value as unknown[], keys, { kind, at: below });
    } else setField(target, name, copyOf(value));
  }
}

function mergeItems(
  list: unknown[],
  config: readonly unknown[],
  keys: readonly string[],
  { kind, at }: { kind: string; at: string },
): void {
  const places = placesOf(list, (item) => itemId(item, keys));
  for (const item of config) {
    const id = itemId(item, keys);
    const index = places.get(id);
    const there = index === undefined ? undefined : list[index];
    if (isFields(item) && isFields(there)) mergeInto(there, item, kind, at);
    else if (index === undefined) {
      places.set(id, list.length);
      list.push(copyOf(item));
    }
  }
}

function addPath(fields: Fields, path: Path): void {
  let at = fields;
  for (const part of path) {
    const next: Fields = isFields(at[part]) ? at[part] : {};
    at[part] = next;
    at = next;
  }
  if (path.at(-1)?.startsWith("f:") !== true) at["."] = {};
}

function pathsOf(fields: Fields, path: Path = []): Path[] {
  return Object.entries(fields).flatMap(([part, inner]) => {
    if (part === ".") return [path];
    const below = [...path, part];
    return isFields(inner) && Object.keys(inner).length > 0 ? pathsOf(inner, below) : [below];
  });
}

function without(entry: Entry, taken: ReadonlySet<string>): Entry {
  const fieldsV1: Fields = {};
  for (const path of pathsOf(entry.fieldsV1)) if (!taken.has(idOf(path))) addPath(fieldsV1, path);
  return { ...entry, fieldsV1 };
}
