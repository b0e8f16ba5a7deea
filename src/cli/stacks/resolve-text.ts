// Replaces positions of the bundle in a text by those of the sources: in stacks as V8 writes them, as lines or within a
// JSON string, and wherever else a script stands with line and column. Pure.
//   at w.syncPass (/usr/lib/nodelet/dist/agent/packs/main-kubelet-agent-025b57a3.js:12:3456)
//   at PodWorker.syncPass (src/main/pods/sync/pod-worker.ts:210:17)

import type { Place } from "./positions.js";

export type FindPlace = (script: string, line: number, column: number) => Place | undefined;

export interface Resolved {
  text: string;
  /** Positions that were replaced. */
  found: number;
  /** Positions of scripts that are not of this version; they stay. */
  unknown: number;
}

const POSITION = /(?<![\w.-])((?:packs|main\/chunks)\/[\w.-]{1,128}\.js):(\d{1,7}):(\d{1,9})(?!\d)/g;
/** What cannot be in the path of the bundle's folder. */
const PATH_END = /[\s()"'`<>\\]/;
/** Before that folder: the function as V8 calls it. */
const FUNCTION = /\bat ((?:async )?(?:new )?)(?:([\w$.#<>[\] ]{1,160}) \()?$/;
const LONGEST_FOLDER = 1024;
const LONGEST_FUNCTION = 200;

export function resolveText(text: string, find: FindPlace): Resolved {
  const pieces: string[] = [];
  let [done, found, unknown] = [0, 0, 0];
  for (const match of text.matchAll(POSITION)) {
    const [all, script = "", line, column] = match;
    const place = find(script, Number(line), Number(column));
    if (place === undefined) {
      unknown++;
      continue;
    }
    found++;
    const end = folderBegin(text, Math.max(done, match.index - LONGEST_FOLDER), match.index);
    const from = Math.max(done, end - LONGEST_FUNCTION);
    pieces.push(text.slice(done, from), frame(text.slice(from, end), place));
    done = match.index + all.length;
  }
  return { text: pieces.join("") + text.slice(done), found, unknown };
}

function folderBegin(text: string, first: number, end: number): number {
  let begin = end;
  while (begin > first && !PATH_END.test(text.charAt(begin - 1))) begin--;
  return begin;
}

function frame(before: string, { source, line, column, name }: Place): string {
  const position = `${source}:${line}:${column}`;
  const match = FUNCTION.exec(before);
  if (match === null) return `${before}${position}`;
  const [all, kind = "", short] = match;
  const head = `${before.slice(0, before.length - all.length)}at ${kind}`;
  const shown = name === "" ? short : name;
  if (shown === undefined) return `${head}${position}`;
  // A frame without a name for V8 has no bracket that would end it.
  return short === undefined ? `${head}${shown} (${position})` : `${head}${shown} (${position}`;
}
