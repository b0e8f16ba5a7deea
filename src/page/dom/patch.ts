// Makes the children of an element equal to a list of values. It keeps existing elements, so that focus, selection and
// scroll positions survive an update.

import type { Handler, Props, VNode } from "./vnode.js";

const SVG = "http://www.w3.org/2000/svg";
const NOT_ATTRIBUTES = new Set(["key", "on", "own", "value", "checked"]);
/** The value that an element was made equal to last. */
const shown = new WeakMap<Node, VNode>();

export function patch(parent: Element, children: readonly (VNode | string)[]): void {
  const byKey = new Map<string, ChildNode>();
  for (const node of parent.childNodes) {
    const key = shown.get(node)?.props.key;
    if (key !== undefined) byKey.set(key, node);
  }
  let cursor: ChildNode | null = parent.firstChild;
  for (const child of children) {
    const node: ChildNode = reusable(child, cursor, byKey) ?? create(child, parent);
    if (node === cursor) cursor = cursor.nextSibling;
    else parent.insertBefore(node, cursor);
    update(node, child);
  }
  while (cursor !== null) {
    const next: ChildNode | null = cursor.nextSibling;
    cursor.remove();
    cursor = next;
  }
}

function reusable(
  child: VNode | string,
  cursor: ChildNode | null,
  byKey: ReadonlyMap<string, ChildNode>,
): ChildNode | undefined {
  if (typeof child === "string") return cursor instanceof Text ? cursor : undefined;
  const { key } = child.props;
  const found = key === undefined ? (cursor ?? undefined) : byKey.get(key);
  const before = found && shown.get(found);
  return before?.tag === child.tag && before.props.key === key ? found : undefined;
}

function create(child: VNode | string, parent: Element): ChildNode {
  if (typeof child === "string") return document.createTextNode(child);
  const svg = child.tag === "svg" || parent.namespaceURI === SVG;
  const element = svg ? document.createElementNS(SVG, child.tag) : document.createElement(child.tag);
  child.props.own?.(element);
  return element;
}

function update(node: ChildNode, child: VNode | string): void {
  if (typeof child === "string") {
    if (node.textContent !== child) node.textContent = child;
    return;
  }
  // A view returns a value again where nothing has changed.
  if (!(node instanceof Element) || shown.get(node) === child) return;
  const before = shown.get(node)?.props ?? {};
  attributes(node, before, child.props);
  listeners(node, before.on ?? {}, child.props.on ?? {});
  shown.set(node, child);
  if (child.props.own === undefined) patch(node, child.children);
  // After the children: a select takes its value from its options.
  fields(node, child.props);
}

function attributes(element: Element, before: Props, now: Props): void {
  for (const name of Object.keys(before)) {
    if (!NOT_ATTRIBUTES.has(name) && isAbsent(now[name])) element.removeAttribute(name);
  }
  for (const [name, value] of Object.entries(now)) {
    if (NOT_ATTRIBUTES.has(name) || isAbsent(value)) continue;
    const text = value === true ? "" : String(value);
    if (element.getAttribute(name) !== text) element.setAttribute(name, text);
  }
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === false;
}

function fields(element: Element, { value, checked }: Props): void {
  if (element instanceof HTMLInputElement && typeof checked === "boolean") element.checked = checked;
  if (
    (element instanceof HTMLInputElement || element instanceof HTMLSelectElement) &&
    typeof value === "string" &&
    element.value !== value
  ) {
    element.value = value;
  }
}

function listeners(
  element: Element,
  before: Readonly<Record<string, Handler>>,
  now: Readonly<Record<string, Handler>>,
): void {
  for (const [name, handler] of Object.entries(before)) {
    if (now[name] !== handler) element.removeEventListener(name, handler);
  }
  for (const [name, handler] of Object.entries(now)) {
    if (before[name] !== handler) element.addEventListener(name, handler);
  }
}
