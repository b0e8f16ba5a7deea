// Puts tokens together into documents. Collections are kept on a stack of its own, so that deep ones do not need the
// program's.

import type { ListNode, MapNode, Node, ScalarNode } from "./nodes.js";
import { MERGE_TAG, resolveScalar, TagMismatchError } from "./resolve-scalar.js";
import type { Scanner } from "./scanner.js";
import { TagDirectives } from "./tag-directives.js";
import type { Token, TokenType } from "./tokens.js";
import { YamlError } from "./yaml-error.js";

type ListState = "block list" | "items" | "flow list begin" | "flow list";
type MapState =
  | "block key"
  | "block value"
  | "flow map begin"
  | "flow key"
  | "flow value"
  | "flow empty value"
  | "pair key"
  | "pair value"
  | "pair end";

/** A collection that is not at its end, and what comes next in it. */
type Open = { state: ListState; list: ListNode } | { state: MapState; list?: never; map: MapNode };
type OpenList = Extract<Open, { list: ListNode }>;
type OpenMap = Extract<Open, { map: MapNode }>;

export class Parser {
  private readonly open: Open[] = [];
  private anchors = new Map<string, Node>();
  private readonly directives = new TagDirectives();
  private isFirst = true;

  constructor(private readonly scanner: Scanner) {}

  /** The content of the next document; undefined after the last one. Throws YamlError. */
  next(): Node | undefined {
    const { scanner } = this;
    this.anchors = new Map();
    while (!this.isFirst && scanner.peek().type === "document end") scanner.take();
    const { type } = scanner.peek();
    if (type === "stream end") return undefined;
    const explicit = !this.isFirst || beginsDocument(type);
    this.isFirst = false;
    this.directives.read(scanner);
    if (explicit) {
      if (scanner.peek().type !== "document start") this.fail('a document must begin with "---"');
      scanner.take();
    }
    const root = explicit && endsDocument(scanner.peek().type) ? empty(scanner.peek().start) : this.tree();
    if (scanner.peek().type === "document end") scanner.take();
    this.directives.clear();
    return root;
  }

  /** After a document: where text follows that is none of it; a document without content does not count. */
  restStart(): number | undefined {
    const { scanner } = this;
    let rest: number | undefined;
    try {
      while (scanner.peek().type === "document end") scanner.take();
      rest = scanner.peek().start;
      while (beginsDocument(scanner.peek().type)) scanner.take();
      return endsDocument(scanner.peek().type) ? undefined : rest;
    } catch (error) {
      if (error instanceof YamlError) return rest ?? error.offset;
      throw error;
    }
  }

  private tree(): Node {
    const root = this.node(true, false);
    for (let top = this.open.at(-1); top !== undefined; top = this.open.at(-1)) {
      if (top.list === undefined) this.advanceMap(top);
      else this.advanceList(top);
    }
    return root;
  }

  private advanceList(top: OpenList): void {
    switch (top.state) {
      case "block list":
        if (this.at("block end")) this.close();
        else this.item(top.list, ["entry", "block end"]);
        break;
      case "items":
        // A list that is not indented beyond its key: no token marks its end.
        if (this.at("entry")) this.item(top.list, ["entry", "key", "value", "block end"]);
        else this.open.pop();
        break;
      case "flow list begin":
      case "flow list":
        this.flowItem(top);
    }
  }

  private advanceMap(top: OpenMap): void {
    const { map } = top;
    switch (top.state) {
      case "block key":
        top.state = "block value";
        this.blockKey(map);
        break;
      case "block value":
        top.state = "block key";
        if (this.at("value")) map.children.push(this.blockNode(["key", "value", "block end"], true));
        else map.children.push(empty(this.scanner.peek().start));
        break;
      case "flow map begin":
      case "flow key":
        this.flowKey(top);
        break;
      case "flow value":
        top.state = "flow key";
        map.children.push(this.flowValue("flow map end"));
        break;
      case "flow empty value":
        top.state = "flow key";
        map.children.push(empty(this.scanner.peek().start));
        break;
      case "pair key":
        top.state = "pair value";
        map.children.push(this.pairKey());
        break;
      case "pair value":
        top.state = "pair end";
        map.children.push(this.flowValue("flow list end"));
        break;
      case "pair end":
        this.open.pop();
    }
  }

  private item(list: ListNode, ends: readonly TokenType[]): void {
    if (!this.at("entry")) this.fail('expected a list item ("- ")');
    list.items.push(this.blockNode(ends, false));
  }

  private blockKey(map: MapNode): void {
    if (this.at("block end")) {
      this.close();
      return;
    }
    if (!this.at("key")) this.fail("expected a key");
    map.children.push(this.blockNode(["key", "value", "block end"], true));
  }

  /** The node after an indicator; an empty one if one of `ends` follows. */
  private blockNode(ends: readonly TokenType[], itemsAllowed: boolean): Node {
    const { end } = this.scanner.take();
    return ends.includes(this.scanner.peek().type) ? empty(end) : this.node(true, itemsAllowed);
  }

  private flowItem(top: OpenList): void {
    if (!this.atFlowItem(top.state === "flow list begin", "flow list end", "]")) return;
    top.state = "flow list";
    if (!this.at("key")) {
      top.list.items.push(this.node(false, false));
      return;
    }
    // A map of one member: its "{" and "}" are not written.
    const map: MapNode = { kind: "map", offset: this.scanner.take().start, children: [] };
    top.list.items.push(map);
    this.open.push({ state: "pair key", map });
  }

  private pairKey(): Node {
    const { type, end } = this.scanner.peek();
    if (type !== "value" && type !== "flow entry" && type !== "flow list end") return this.node(false, false);
    // go-yaml goes over what follows an empty key.
    this.scanner.take();
    return empty(end);
  }

  private flowKey(top: OpenMap): void {
    if (!this.atFlowItem(top.state === "flow map begin", "flow map end", "}")) return;
    if (!this.at("key")) {
      top.state = "flow empty value";
      top.map.children.push(this.node(false, false));
      return;
    }
    top.state = "flow value";
    this.scanner.take();
    const { type, start } = this.scanner.peek();
    const none = type === "value" || type === "flow entry" || type === "flow map end";
    top.map.children.push(none ? empty(start) : this.node(false, false));
  }

  private flowValue(end: TokenType): Node {
    const { scanner } = this;
    if (!this.at("value")) return empty(scanner.peek().start);
    scanner.take();
    const { type, start } = scanner.peek();
    return type === "flow entry" || type === end ? empty(start) : this.node(false, false);
  }

  /** Goes over the "," before an item, or over the end of the collection: false. */
  private atFlowItem(isFirst: boolean, end: TokenType, sign: string): boolean {
    if (!isFirst && !this.at(end)) {
      if (!this.at("flow entry")) this.fail(`expected "," or "${sign}"`);
      this.scanner.take();
    }
    if (!this.at(end)) return true;
    this.close();
    return false;
  }

  private close(): void {
    this.scanner.take();
    this.open.pop();
  }

  private at(type: TokenType): boolean {
    return this.scanner.peek().type === type;
  }

  /** The next node; of a collection, its content follows. `itemsAllowed`: a list need not be indented. */
  private node(inBlock: boolean, itemsAllowed: boolean): Node {
    if (this.at("alias")) return this.alias(this.scanner.take());
    const { anchor, tag } = this.properties();
    const node = this.content(inBlock, itemsAllowed, tag, anchor !== undefined);
    if (anchor !== undefined) this.anchors.set(anchor.value, node);
    return node;
  }

  private alias({ value: name, start: offset }: Token): Node {
    const target = this.anchors.get(name);
    if (target === undefined) throw new YamlError(`*${name} refers to no anchor before it`, offset);
    return { kind: "alias", offset, target };
  }

  private properties(): { anchor: Token | undefined; tag: string } {
    let anchor: Token | undefined;
    let tag: Token | undefined;
    if (this.at("anchor")) anchor = this.scanner.take();
    if (this.at("tag")) tag = this.scanner.take();
    if (anchor === undefined && tag !== undefined && this.at("anchor")) anchor = this.scanner.take();
    return { anchor, tag: tag === undefined ? "" : this.directives.resolve(tag) };
  }

  private content(inBlock: boolean, itemsAllowed: boolean, tag: string, anchored: boolean): Node {
    const next = this.scanner.peek();
    const { type, start } = next;
    if (type === "scalar") return scalar(this.scanner.take(), tag);
    if (type === "entry" && itemsAllowed) return this.list("items", start);
    if (type === "flow list start") return this.list("flow list begin", this.scanner.take().start);
    if (type === "flow map start") return this.map("flow map begin", this.scanner.take().start);
    if (type === "block list start" && inBlock) return this.list("block list", this.scanner.take().start);
    if (type === "block map start" && inBlock) return this.map("block key", this.scanner.take().start);
    if (tag !== "" || anchored) return scalar({ ...next, end: start, value: "", plain: true }, tag);
    return this.fail("expected a value");
  }

  private list(state: ListState, offset: number): ListNode {
    const list: ListNode = { kind: "list", offset, items: [] };
    this.open.push({ state, list });
    return list;
  }

  private map(state: MapState, offset: number): MapNode {
    const map: MapNode = { kind: "map", offset, children: [] };
    this.open.push({ state, map });
    return map;
  }

  private fail(message: string): never {
    throw new YamlError(message, this.scanner.peek().start);
  }
}

function empty(offset: number): ScalarNode {
  return { kind: "scalar", offset, value: null, isFloat: false, text: "", isMerge: false };
}

function scalar({ start: offset, value: text, plain }: Token, tag: string): ScalarNode {
  const implicit = tag === "!" || (tag === "" && plain);
  try {
    const { kind, value } = resolveScalar(tag, text, plain);
    const isMerge = text === "<<" && (implicit || tag === MERGE_TAG);
    return { kind: "scalar", offset, value, isFloat: kind === "float", text, isMerge };
  } catch (error) {
    throw error instanceof TagMismatchError ? new YamlError(error.message, offset) : error;
  }
}

function beginsDocument(type: TokenType): boolean {
  return type === "version directive" || type === "tag directive" || type === "document start";
}

function endsDocument(type: TokenType): boolean {
  return beginsDocument(type) || type === "document end" || type === "stream end";
}
