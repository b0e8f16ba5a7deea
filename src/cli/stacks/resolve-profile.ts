// Replaces the places of functions in a profile of V8 (/debug/pprof: .cpuprofile, .heapprofile) by those of the
// sources. Pure.

import { isRecord } from "../../shared/base/text/is-record.js";
import type { FindPlace, Resolved } from "./resolve-text.js";

const SCRIPT = /(?:packs|main\/chunks)\/[\w.-]{1,128}\.js$/;

/** undefined: the text is no profile. */
export function resolveProfile(text: string, find: FindPlace): Resolved | undefined {
  if (!text.startsWith("{")) return undefined;
  let profile: unknown;
  try {
    profile = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(profile) || !("nodes" in profile || "head" in profile)) return undefined;
  const resolved = { found: 0, unknown: 0 };
  // The tree of a heap profile is as deep as the deepest stack, so it is walked with a list.
  const nodes: unknown[] = [profile["nodes"], profile["head"]].flat();
  while (nodes.length > 0) {
    const node = nodes.pop();
    if (!isRecord(node)) continue;
    resolveFrame(node["callFrame"], find, resolved);
    const { children } = node;
    if (Array.isArray(children)) for (const child of children) if (isRecord(child)) nodes.push(child);
  }
  return { text: `${JSON.stringify(profile)}\n`, ...resolved };
}

/** Lines and columns of a profile are from 0. */
function resolveFrame(frame: unknown, find: FindPlace, resolved: Omit<Resolved, "text">): void {
  if (!isRecord(frame) || typeof frame["url"] !== "string") return;
  const script = SCRIPT.exec(frame["url"])?.[0];
  if (script === undefined) return;
  const place = find(script, Number(frame["lineNumber"]) + 1, Number(frame["columnNumber"]) + 1);
  if (place === undefined) {
    resolved.unknown++;
    return;
  }
  resolved.found++;
  frame["url"] = place.source;
  frame["lineNumber"] = place.line - 1;
  frame["columnNumber"] = place.column - 1;
  if (place.name !== "") frame["functionName"] = place.name;
}
