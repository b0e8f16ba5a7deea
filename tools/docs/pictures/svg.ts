// Parts of an SVG picture: text and shapes as strings, colours for light and dark. Pictures load nothing and run no
// script.

import { escapeHtml } from "../../../src/shared/base/text/escape.js";

const STYLE = `
text { font-family: "DejaVu Sans", Arial, Helvetica, sans-serif; font-size: 12px; fill: #1f2933; }
.title { font-size: 14px; font-weight: 600; } .small { font-size: 11px; fill: #52606d; }
.ground { fill: #ffffff; } .line { stroke: #7b8794; stroke-width: 1.5; fill: none; } .grid { stroke: #e0e4ea; }
.box { stroke: #52606d; fill: #d9e8ff; } .main { fill: #ffe8b3; } .out { fill: #e4f4e4; } .bar { stroke: none; } .tip { fill: #7b8794; }
@media (prefers-color-scheme: dark) {
text { fill: #e6e9ef; } .small { fill: #98a2b3; }
.ground { fill: #11141a; } .line { stroke: #98a2b3; } .grid { stroke: #2b313c; }
.box { stroke: #98a2b3; fill: #1f3252; } .main { fill: #5a4612; } .out { fill: #1f3d2a; } .bar { stroke: none; } .tip { fill: #98a2b3; }
}
`;

export interface Picture {
  title: string;
  /** What the picture shows, for readers who do not see it. */
  description: string;
  width: number;
  height: number;
  body: readonly string[];
}

export function svg({ title, description, width, height, body }: Picture): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title desc">
<title id="title">${escapeHtml(title)}</title>
<desc id="desc">${escapeHtml(description)}</desc>
<style>${STYLE}</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>
<rect class="ground" x="0" y="0" width="${width}" height="${height}"/>
${body.join("\n")}
</svg>
`;
}

export function text(
  x: number,
  y: number,
  content: string,
  kind = "",
  anchor: "start" | "middle" | "end" = "start",
): string {
  const classes = kind === "" ? "" : ` class="${kind}"`;
  const at = anchor === "start" ? "" : ` text-anchor="${anchor}"`;
  return `<text${classes} x="${round(x)}" y="${round(y)}"${at}>${escapeHtml(content)}</text>`;
}

export function rect(kind: string, x: number, y: number, width: number, height: number, radius = 0): string {
  const corners = radius === 0 ? "" : ` rx="${radius}"`;
  return `<rect class="${kind}" x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}"${corners}/>`;
}

/** A line through the points; `arrow`: with a tip at its end. */
export function path(points: readonly (readonly [x: number, y: number])[], kind = "line", arrow = false): string {
  const d = points.map(([x, y], index) => `${index === 0 ? "M" : "L"}${round(x)} ${round(y)}`).join("");
  return `<path class="${kind}" d="${d}"${arrow ? ' marker-end="url(#tip)"' : ""}/>`;
}

const round = (value: number): number => Math.round(value * 10) / 10;
