// Finds the route of a decoded path. A path is compared segment by segment; nothing is decoded or normalised here.
// Invariant: a named segment is never empty and holds no slash. Of two routes, the one with a fixed segment where the other has none wins.
import type { Params, Route } from "./answer.js";

interface Row {
  readonly route: Route;
  /** Segments of the path, after the first. */
  readonly segments: readonly string[];
}

export interface Found {
  readonly route: Route;
  readonly params: Params;
}

export class RouteTable {
  /** By the first segment, which every route has fixed. */
  private readonly rows = new Map<string, Row[]>();

  constructor(routes: readonly Route[]) {
    const shapes = new Set<string>();
    for (const route of routes) {
      const shape = route.path.replace(/:\w+/g, ":");
      if (shapes.has(shape)) throw new Error(`two routes have the path ${shape}`);
      shapes.add(shape);
      const [, first = "", ...segments] = route.path.split("/");
      const rows = this.rows.get(first) ?? [];
      rows.push({ route, segments });
      this.rows.set(first, rows);
    }
    for (const rows of this.rows.values()) rows.sort((one, other) => (ranks(one) < ranks(other) ? -1 : 1));
  }

  /** @param path begins with "/" */
  find(path: string): Found | undefined {
    const [, first = "", ...rest] = path.split("/");
    for (const { route, segments } of this.rows.get(first) ?? []) {
      const params = paramsOf(segments, rest);
      if (params !== undefined) return { route, params };
    }
    return undefined;
  }
}

/** undefined: the path is not the route's. */
function paramsOf(segments: readonly string[], given: readonly string[]): Params | undefined {
  const all = segments.at(-1) === "*";
  if (all ? given.length < segments.length : given.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const value = given[index] ?? "";
    if (segment === "*") params["*"] = given.slice(index).join("/");
    else if (!segment.startsWith(":")) {
      if (segment !== value) return undefined;
    } else if (value === "") return undefined;
    else params[segment.slice(1)] = value;
  }
  return params;
}

/** A digit for each segment; the lower one is tried first. */
function ranks({ segments }: Row): string {
  return segments.map((segment) => (segment === "*" ? 2 : Number(segment.startsWith(":")))).join("");
}
