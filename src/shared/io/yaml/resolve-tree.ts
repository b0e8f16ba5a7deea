// Resolves the aliases, merge keys and keys of a document as go-yaml decodes it, in its order: a later member replaces
// an earlier one, and "<<" replaces what stands before it.
//
// Works with a stack of its own: documents may be deep. An alias shares the value of its anchor. The steps that go-yaml
// takes to copy it are counted, and bounded as go-yaml bounds them.

import { AliasBudget } from "./alias-budget.js";
import { keyText } from "./key-text.js";
import type { AliasNode, ListNode, MapNode, Node, ScalarNode } from "./nodes.js";
import {
  addItem,
  addMember,
  emptyList,
  emptyMap,
  type RepeatedKey,
  type YamlList,
  type YamlMap,
  type YamlValue,
} from "./tree.js";
import { YamlError } from "./yaml-error.js";

/** As deep as Go's JSON decoder goes. Aliases may add depth to that of the text. */
const MAX_DEPTH = 10_000;

interface Common {
  /** The next child. */
  next: number;
  isAliased: boolean;
  /** Levels of collections in it, so far. */
  height: number;
  startSteps: number;
  startCharacters: number;
}
interface ListTask extends Common {
  kind: "list";
  node: ListNode;
  list: YamlList;
}
interface MapTask extends Common {
  kind: "map";
  node: MapNode;
  map: YamlMap;
  /** Names that came from a merge key: a member of the same name is no repetition. */
  merged: Set<string>;
  /** Its members are merged into a map that is not its own. */
  isMerge: boolean;
}
/** A list of maps to merge, the first one last: it counts. */
interface MergeListTask extends Common {
  kind: "merge list";
  node: ListNode;
  into: MapTask;
}
type Task = ListTask | MapTask | MergeListTask;

/** A collection that is decoded, or being decoded: then it has no steps yet. */
interface Decoded {
  value: YamlList | YamlMap;
  steps: number | undefined;
  characters: number;
  height: number;
}

/** Why JSON cannot hold a value. */
interface Unwritable {
  reason: string;
  offset: number;
}

export interface ResolvedTree {
  root: YamlValue;
  repeated: RepeatedKey[];
}

/** Throws YamlError. */
export function resolveTree(root: Node): ResolvedTree {
  return new TreeResolver().resolve(root);
}

class TreeResolver {
  private readonly done = new Map<Node, Decoded>();
  private readonly merging = new Set<MapNode>();
  private readonly tasks: Task[] = [];
  private readonly budget = new AliasBudget();
  private readonly repeated: RepeatedKey[] = [];
  /** Values that JSON cannot hold. Those that a later member replaced do no harm. */
  private readonly unwritable = new Map<YamlValue, Unwritable>();

  resolve(root: Node): ResolvedTree {
    this.budget.spend(1, false, root.offset);
    const value = this.value(root, false);
    for (let task = this.tasks.at(-1); task !== undefined; task = this.tasks.at(-1)) this.advance(task);
    if (this.unwritable.size > 0) checkReachable(value, this.unwritable);
    return { root: value, repeated: this.repeated };
  }

  private advance(task: Task): void {
    if (task.kind === "list") {
      const child = task.node.items[task.next++];
      if (child === undefined) this.finish(task);
      else addItem(task.list, this.value(child, task.isAliased));
    } else if (task.kind === "map") {
      const [key, child] = [task.node.children[task.next], task.node.children[task.next + 1]];
      task.next += 2;
      if (key === undefined || child === undefined) this.finish(task);
      else if (key.kind === "scalar" && key.isMerge) this.merge(child, task, task.isAliased);
      else this.member(key, child, task);
    } else {
      const child = task.node.items[task.next--];
      if (child === undefined) this.finish(task);
      else if (child.kind === "list") failMerge(child);
      else this.merge(child, task.into, task.isAliased);
    }
  }

  private member(key: Node, child: Node, task: MapTask): void {
    this.budget.spend(key.kind === "alias" ? 2 : 1, task.isAliased, key.offset);
    const scalar = key.kind === "alias" ? key.target : key;
    if (scalar.kind !== "scalar") throw new YamlError("a key must not be a list or a map", key.offset);
    const { map, merged, isMerge } = task;
    const name = this.keyOf(scalar, map);
    this.budget.spendText(name.length, task.isAliased || key.kind === "alias", key.offset);
    const isRepeated = !isMerge && map.members.has(name) && !merged.delete(name);
    if (isRepeated) this.repeated.push({ map, name, offset: key.offset });
    if (isMerge) merged.add(name);
    addMember(map, name, { value: this.value(child, task.isAliased), offset: key.offset });
  }

  private keyOf(key: ScalarNode, map: YamlMap): string {
    const text = keyText(key);
    if (text === undefined && !this.unwritable.has(map)) {
      this.unwritable.set(map, { reason: "a key must be a string, a number or a boolean", offset: key.offset });
    }
    return text ?? key.text;
  }

  private merge(node: Node, into: MapTask, isAliased: boolean): void {
    if (node.kind === "list") {
      const next = node.items.length - 1;
      this.tasks.push({ kind: "merge list", node, into, ...this.fresh(isAliased), next, height: 0 });
      return;
    }
    if (node.kind === "alias") this.budget.spend(1, isAliased, node.offset);
    const source = node.kind === "alias" ? node.target : node;
    if (source.kind !== "map") failMerge(node);
    if (this.done.get(source)?.steps === undefined && this.done.has(source)) failLoop(node);
    if (this.merging.has(source)) failLoop(node);
    this.merging.add(source);
    const aliased = isAliased || node.kind === "alias";
    this.budget.spend(1, aliased, node.offset);
    const { map, merged } = into;
    this.push({ kind: "map", node: source, map, merged, isMerge: true, ...this.fresh(aliased) });
  }

  private value(node: Node, isAliased: boolean): YamlValue {
    if (node.kind === "alias") {
      this.budget.spend(1, isAliased, node.offset);
      return this.target(node);
    }
    if (node.kind === "scalar") return this.scalar(node, isAliased);
    const shared = this.done.get(node);
    if (shared !== undefined) return this.share(shared, node, isAliased);
    const common = this.fresh(isAliased);
    this.budget.spend(1, isAliased, node.offset);
    if (node.kind === "list") {
      const list = emptyList(node.offset);
      this.done.set(node, { value: list, steps: undefined, characters: 0, height: 0 });
      this.push({ kind: "list", node, list, ...common });
      return list;
    }
    const map = emptyMap(node.offset);
    this.done.set(node, { value: map, steps: undefined, characters: 0, height: 0 });
    this.push({ kind: "map", node, map, merged: new Set(), isMerge: false, ...common });
    return map;
  }

  private target(alias: AliasNode): YamlValue {
    const { target } = alias;
    if (target.kind === "scalar") return this.scalar(target, true);
    const shared = this.done.get(target);
    return shared === undefined ? this.value(target, true) : this.share(shared, alias, true);
  }

  private share({ value, steps, characters, height }: Decoded, node: Node, isAliased: boolean): YamlValue {
    if (steps === undefined) failLoop(node);
    this.budget.spend(steps, isAliased, node.offset);
    this.budget.spendText(characters, isAliased, node.offset);
    this.raise(height);
    return value;
  }

  private scalar(node: ScalarNode, isAliased: boolean): YamlValue {
    this.budget.spend(1, isAliased, node.offset);
    this.budget.spendText(node.text.length, isAliased, node.offset);
    if (typeof node.value === "number" && !Number.isFinite(node.value)) {
      this.unwritable.set(node, { reason: `${node.text} is not a number of JSON`, offset: node.offset });
    }
    return node;
  }

  private fresh(isAliased: boolean): Common {
    return { next: 0, isAliased, height: 1, startSteps: this.budget.steps, startCharacters: this.budget.characters };
  }

  private push(task: Task): void {
    this.tasks.push(task);
  }

  private finish(task: Task): void {
    this.tasks.pop();
    if (task.kind === "merge list") {
      this.raise(task.height - 1);
      return;
    }
    if (task.kind === "map" && task.isMerge) {
      this.merging.delete(task.node);
      this.raise(task.height - 1);
      return;
    }
    const entry = this.done.get(task.node);
    if (entry !== undefined) {
      entry.steps = this.budget.steps - task.startSteps;
      entry.characters = this.budget.characters - task.startCharacters;
      entry.height = task.height;
    }
    this.raise(task.height);
  }

  /** The current collection contains one of that height. */
  private raise(height: number): void {
    const task = this.tasks.at(-1);
    if (task === undefined || task.height > height) return;
    task.height = height + 1;
    if (task.height > MAX_DEPTH) throw new YamlError(`nested more than ${MAX_DEPTH} levels deep`, 0, true);
  }
}

function checkReachable(root: YamlValue, unwritable: ReadonlyMap<YamlValue, Unwritable>): void {
  const seen = new Set<YamlValue>();
  const values = [root];
  for (let value = values.pop(); value !== undefined; value = values.pop()) {
    const problem = unwritable.get(value);
    if (problem !== undefined) throw new YamlError(problem.reason, problem.offset);
    if (value.kind === "scalar" || seen.has(value)) continue;
    seen.add(value);
    if (value.kind === "list") for (const item of value.items) values.push(item);
    else for (const { value: member } of value.members.values()) values.push(member);
  }
}

function failLoop(node: Node): never {
  throw new YamlError("an alias is within the value that it refers to", node.offset);
}

function failMerge(node: Node): never {
  throw new YamlError('the value of "<<" must be a map, or a list of maps', node.offset);
}
