// --print-config: the whole effective configuration with the origin of every value, secrets masked. The YAML reads back
// as a configuration file.

import { CONFIG_API_VERSION, CONFIG_KIND } from "./config-version.js";
import type { EffectiveConfig } from "./effective.js";
import { originText } from "./origin.js";
import { masked } from "./secrets.js";
import { type Scalar, type Tree } from "./tree.js";
import { withoutEffect } from "./without-effect.js";

/** `{config, origins, notices}`; origins are texts by path, notices name settings without effect. */
export function printJson(config: EffectiveConfig): string {
  const origins = Object.fromEntries([...config.leaves()].map(({ path, node }) => [path, originText(node.origin)]));
  const notices = withoutEffect(config);
  return `${JSON.stringify({ config: config.toMaskedObject(), origins, notices }, undefined, 2)}\n`;
}

/** The origin follows each value as a comment; comments at the end name settings without effect. */
export function printYaml(config: EffectiveConfig): string {
  const lines = [`apiVersion: ${CONFIG_API_VERSION}`, `kind: ${CONFIG_KIND}`];
  for (const [name, node] of masked(config.tree).entries) lines.push(...entryLines(word(name), node, ""));
  lines.push(...withoutEffect(config).map((notice) => `# ${oneLine(notice)}`));
  return `${lines.join("\n")}\n`;
}

/** "name: value", or "name:" with its members below. */
function entryLines(name: string, node: Tree, indent: string): string[] {
  const value = inline(node);
  return value === undefined
    ? [`${indent}${name}:`, ...blockLines(node, `${indent}  `)]
    : [`${indent}${name}: ${value}`];
}

function blockLines(node: Tree, indent: string): string[] {
  if (node.kind === "map") return [...node.entries].flatMap(([key, child]) => entryLines(word(key), child, indent));
  if (node.kind === "scalar") return [];
  return node.items.flatMap((item) => {
    const value = inline(item);
    if (value !== undefined) return [`${indent}- ${value}`];
    const [first = "", ...rest] = blockLines(item, `${indent}  `);
    return [`${indent}- ${first.trimStart()}`, ...rest];
  });
}

/** A scalar or an empty collection, with its origin; undefined: needs several lines. */
function inline(node: Tree): string | undefined {
  const comment = `  # ${oneLine(originText(node.origin))}`;
  if (node.kind === "scalar") return `${scalarText(node.value)}${comment}`;
  if (node.kind === "list") return node.items.length === 0 ? `[]${comment}` : undefined;
  return node.entries.size === 0 ? `{}${comment}` : undefined;
}

function scalarText(value: Scalar): string {
  return typeof value === "string" ? word(value) : JSON.stringify(value);
}

/** Bare where no reader can take it for anything but text; a JSON string is YAML too. */
function word(text: string): string {
  const bare = /^[A-Za-z/][A-Za-z0-9./_-]*$/.test(text) && !/^(y|n|yes|no|on|off|true|false|null)$/i.test(text);
  return bare ? text : JSON.stringify(text);
}

function oneLine(text: string): string {
  return text.replace(/[^\x20-\x7e\u00a0-\uffff]/g, "?");
}
