// Parts that several views use: badges, addresses, facts, fields, empty states. Pure.

import { duration, moment } from "../../cli/output/amounts.js";
import type { Tone } from "../../cli/pods/tone.js";
import { onInput } from "../dom/handlers.js";
import { h, type Child, type VNode } from "../dom/vnode.js";

/** A longer text is a message: it may wrap. */
const LONGEST_WORD = 36;
/** The rest of a text is its title. */
const LONGEST_BADGE = 120;

/** A state as a coloured dot and a word: never by colour alone. */
export function badge(tone: Tone, text: string): VNode {
  const shown = cut(text, LONGEST_BADGE);
  return h(
    "span",
    { class: `badge ${tone}${text.length > LONGEST_WORD ? " long" : ""}`, title: shown === text ? undefined : text },
    h("span", {}, shown),
  );
}

export function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

/** A moment in the past as an age, with the moment itself as its title. */
export function age(at: number | undefined, now: number): VNode | string {
  return at === undefined ? "–" : h("span", { title: moment(at) }, duration(now - at));
}

/** A path, name of an image or address, which wraps after its separators first. */
export function breakable(text: string): readonly Child[] {
  return text.split(/(?<=[/:@=_])(?![/:@=_])/).flatMap((part, index) => (index === 0 ? [part] : [h("wbr"), part]));
}

/** IP addresses, one per line. */
export function addresses(all: readonly string[]): VNode | string {
  if (all.length === 0) return "–";
  return h(
    "span",
    { class: "address" },
    all.map((ip) => h("span", {}, breakable(ip))),
  );
}

/** Pairs of name and value. @param wide each has a line of its own */
export function facts(
  pairs: readonly (readonly [name: string, value: Child | readonly Child[]])[],
  wide = false,
): VNode {
  return h(
    "dl",
    { class: wide ? "facts one" : "facts" },
    pairs.map(([name, value]) => h("div", { key: name }, h("dt", {}, name), h("dd", {}, value))),
  );
}

export function section(title: string, ...children: readonly (Child | readonly Child[])[]): VNode {
  return h("section", { key: title, "aria-label": title }, h("h2", {}, title), ...children);
}

export function note(text: string): VNode {
  return h("p", { class: "muted" }, text);
}

/** The field that the key "/" focuses. */
export function filterField(
  label: string,
  placeholder: string,
  value: string,
  listener: (text: string) => void,
): VNode {
  return h(
    "label",
    {},
    `${label} `,
    h("input", {
      type: "search",
      value,
      placeholder,
      title: "Press / to come here",
      "aria-keyshortcuts": "/",
      on: { input: onInput(listener) },
    }),
  );
}

export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
