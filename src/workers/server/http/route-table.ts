// Finds the route of a decoded path. A path is compared segment by segment; nothing is decoded or normalised here.
// Invariant: a named segment is never empty and holds no slash. Of two routes, the one with a fixed segment where the
// other has none wins. A final slash, and an escaped one, count as upstream's ServeMux and web services have them.

import type { Params, Route } from "./answer.js";

interface Row {
  readonly route: Route;
  /** Segments of the path, after the first. */
  readonly segments: readonly string[];
  /** Segments, from the first on, in which no slash may be escaped. */
  readonly plain: number;
}

export interface Found {
  readonly route: Route;
  readonly params: Params;
}

export class RouteTable {
  /** By the first segment, which every route has fixed. */
  private readonly rows = new Map<string, Row[]>();
  /** Paths of web services that have a final slash. */
  private readonly slashed = new Set<string>();
  /** Paths of all web services, without a final slash. */
  private readonly services = new Set<string>();

  constructor(routes: readonly Route[]) {
    const shapes = new Set<string>();
    for (const route of routes) {
      const { path, service } = route;
      const shape = path.replace(/:\w+/g, ":");
      if (shapes.has(shape)) throw new Error(`two routes have the path ${shape}`);
      shapes.add(shape);
      const [, first = "", ...segments] = path.split("/");
      const rows = this.rows.get(first) ?? [];
      rows.push({ route, segments, plain: service === undefined ? Infinity : depthOf(service) });
      this.rows.set(first, rows);
      if (service !== undefined) this.services.add(service.replace(/\/$/, ""));
      if (service?.endsWith("/") === true) this.slashed.add(service);
    }
    for (const rows of this.rows.values()) rows.sort((one, other) => (ranks(one) < ranks(other) ? -1 : 1));
  }

  /** @param segments of a path: one with an escaped slash holds it */
  find(segments: readonly string[]): Found | undefined {
    const glued = segments.findIndex((segment) => segment.includes("/"));
    const [first = "", ...rest] = glued < 0 ? segments : segments.flatMap((segment) => segment.split("/"));
    for (const { route, segments: wanted, plain } of this.rows.get(first) ?? []) {
      if (glued >= 0 && glued < plain) continue;
      const params = paramsOf(wanted, route.service === undefined || wanted.at(-1) === "*" ? rest : withoutSlash(rest));
      if (params !== undefined) return { route, params };
    }
    return undefined;
  }

  /** Whether the path is a web service's, or below it: "/stats/x" of the service "/stats/". */
  isBelowService(segments: readonly string[]): boolean {
    return segments.some((_segment, index) => this.services.has(`/${segments.slice(0, index + 1).join("/")}`));
  }

  /** The path of a web service of which only the final slash is missing. */
  slashedPath(segments: readonly string[]): string | undefined {
    const path = `/${segments.join("/")}/`;
    return this.slashed.has(path) && !segments.some((segment) => segment.includes("/")) ? path : undefined;
  }
}

/** "/debug/pprof/" has two segments. */
function depthOf(service: string): number {
  return service.split("/").filter((segment) => segment !== "").length;
}

function withoutSlash(segments: readonly string[]): readonly string[] {
  return segments.at(-1) === "" ? segments.slice(0, -1) : segments;
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
