// The series that docs/monitoring.md, the dashboard and the rules name.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
export const RULES = fileURLToPath(new URL("../../../tools/deploy/monitoring/rules.yaml", import.meta.url));

export interface PromisedSeries {
  name: string;
  /** "always", "in a cluster", "no: …", or another condition. */
  served: string;
  page: string;
}

export function promisedSeries(): PromisedSeries[] {
  const [, table = ""] = read("docs/monitoring.md").split("## Series of the kubelet in kubernetes-mixin");
  return [...table.matchAll(/^\| `(\w+)` \| [^|]* \| ([^|]*) \| ([^|]*) \|$/gm)].map(
    ([, name = "", served = "", page = ""]) => ({ name, served: served.trim(), page: page.trim() }),
  );
}

interface Rules {
  groups: { rules: { alert?: string; record?: string; expr: string }[] }[];
}

export function rules(): Rules["groups"][number]["rules"] {
  return (parse(read("tools/deploy/monitoring/rules.yaml")) as Rules).groups.flatMap((group) => group.rules);
}

interface Panel {
  title: string;
  type: string;
  targets?: { expr: string }[];
}

export function panels(): Panel[] {
  return (JSON.parse(read("tools/deploy/monitoring/dashboard.json")) as { panels: Panel[] }).panels;
}

interface Variable {
  type: string;
  query: string | { query: string };
}

/** The queries that fill the lists of job and instance. */
export function variables(): string[] {
  const { templating } = JSON.parse(read("tools/deploy/monitoring/dashboard.json")) as {
    templating: { list: Variable[] };
  };
  return templating.list.flatMap(({ type, query }) =>
    type === "query" ? [typeof query === "string" ? query : query.query] : [],
  );
}

/** The kubelet's series that an expression names, without the suffixes of histograms and without recorded series. */
export function seriesIn(expression: string): string[] {
  const names = expression.match(
    /(?<![\w:])(?:kubelet|nodelet|process|container|rest_client|prober)_\w+(?![\w:]|\s*[=!]~?")/g,
  );
  return (names ?? [])
    .filter((name) => !name.startsWith("container_state"))
    .map((name) => name.replace(/_(?:bucket|sum|count)$/, ""));
}

/** Every series that the dashboard and the rules name. */
export function ownSeries(): Set<string> {
  const expressions = [
    ...panels().flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
    ...rules().map(({ expr }) => expr),
  ];
  return new Set(expressions.flatMap(seriesIn));
}

/** Names with at least one sample on a page, histograms without their suffixes. */
export function servedSeries(page: string): Set<string> {
  const histograms = new Set([...page.matchAll(/^# TYPE (\w+) histogram$/gm)].map(([, name]) => name));
  return new Set(
    [...page.matchAll(/^(\w+)(?:\{[^\n]*\})? \S+/gm)].map(([, name = ""]) => {
      const base = name.replace(/_(?:bucket|sum|count)$/, "");
      return histograms.has(base) ? base : name;
    }),
  );
}
