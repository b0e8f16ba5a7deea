// A flame picture as SVG without scripts. A function is a rectangle as wide as its share of the thread's time, above
// those that it calls.
// Invariant: pure; equal trees give equal pictures; frames too narrow to be seen are left out, so that pictures stay
// small.

import { escapeHtml } from "../../src/shared/base/text/escape.js";
import type { Frame } from "./stacks.js";

const WIDTH = 1200;
const ROW = 16;
/** Pixels. */
const NARROWEST = 3;
const DEEPEST = 40;
/** Pixels of one character of the text, about. */
const CHARACTER = 5.6;

/** A hue per folder: those of our own are blue and green, others are red and yellow. */
const HUES: readonly (readonly [folder: string, hue: number])[] = [
  ["v8", 0],
  ["native", 20],
  ["node", 40],
  ["packages", 55],
];

export function flamePicture(title: string, top: Frame): string {
  const rectangles: string[] = [];
  let deepest = 0;
  const scale = top.totalMs === 0 ? 0 : WIDTH / top.totalMs;
  const draw = (frame: Frame, x: number, depth: number): void => {
    const width = frame.totalMs * scale;
    if (width < NARROWEST || depth > DEEPEST) return;
    deepest = Math.max(deepest, depth);
    rectangles.push(rectangle(frame, x, depth, width, top.totalMs));
    let at = x;
    for (const child of frame.children) {
      draw(child, at, depth + 1);
      at += child.totalMs * scale;
    }
  };
  draw(top, 0, 0);
  const height = (deepest + 1) * ROW + 24;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="monospace" font-size="10">
<text x="2" y="14" font-size="13">${escapeHtml(title)}</text>
${rectangles.join("\n")}
</svg>
`;
}

function rectangle(
  { name, folder, totalMs, selfMs }: Frame,
  x: number,
  depth: number,
  width: number,
  all: number,
): string {
  const y = 22 + depth * ROW;
  const fits = Math.floor((width - 4) / CHARACTER);
  const shown = name.length <= fits ? name : name.slice(0, Math.max(0, fits - 1));
  const text = fits < 4 ? "" : `<text x="${(x + 2).toFixed(1)}" y="${y + 11}">${escapeHtml(shown)}</text>`;
  const share = ((100 * totalMs) / all).toFixed(1);
  const about = `${name}: ${totalMs.toFixed(0)} ms, ${share} %; itself ${selfMs.toFixed(0)} ms`;
  const place = `x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${ROW - 1}"`;
  return `<g><title>${escapeHtml(about)}</title><rect ${place} fill="${colour(folder)}"/>${text}</g>`;
}

function colour(folder: string): string {
  if (folder === "") return "#ddd";
  const known = HUES.find(([name]) => name === folder)?.[1];
  return known === undefined ? `hsl(${120 + (hashOf(folder) % 140)},55%,75%)` : `hsl(${known},80%,75%)`;
}

function hashOf(text: string): number {
  let hash = 7;
  for (const character of text) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 9973;
  return hash;
}
