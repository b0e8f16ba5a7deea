// The files that the words after `npm test --` select.
// Invariant: only files that exist as sources are selected, so compiled code of deleted tests never runs; a word that
// selects nothing is an error.

import { nearestName } from "../../src/shared/base/text/nearest-name.js";
import { SetupProblem } from "../../tools/standalone/problem.js";
import { SUITES, suiteOf, type LaneKind, type Suite } from "./suites.js";

/** One test file in one place. */
export interface Job {
  suite: string;
  lane: LaneKind;
  /** Path below test/, without ".test.ts": `integration/probes`. */
  name: string;
  timeoutMs: number;
}

export interface Selection {
  /** Names of suites, or "all". */
  words: readonly string[];
  /** The runtime of the suites that would run on the installed containerd: NODELET_TEST_RUNTIME, NODELET_CONTAINERD. */
  lane?: LaneKind;
}

/**
 * The jobs for `words`: names of suites, or parts of paths, which select within the named suites (or within all). No
 * words: the suites of `npm test`. `sources` are paths below test/.
 * @throws SetupProblem that names the nearest suites and files, for a word that selects nothing
 */
export function select(sources: readonly string[], { words, lane }: Selection): Job[] {
  const all = words.includes("all");
  const rest = words.filter((word) => word !== "all");
  const named = SUITES.filter(({ name }) => rest.includes(name));
  const filters = rest.filter((word) => !named.some(({ name }) => name === word));
  const wanted = named.length > 0 ? named : SUITES.filter((suite) => isUsual(suite, all, filters.length > 0));
  const suites = wanted.filter((suite) => !repeatsOthers(suite, wanted, lane ?? "containerd"));
  const jobs = suites.flatMap((suite) => sources.filter(suite.has).map((source) => jobOf(suite, source, lane)));
  for (const filter of filters)
    if (!jobs.some((job) => matches(job, filter))) throw unknownWord(filter, sources, named);
  return filters.length === 0 ? jobs : jobs.filter((job) => filters.some((filter) => matches(job, filter)));
}

function isUsual(suite: Suite, all: boolean, hasFilters: boolean): boolean {
  if (all) return suite.isSelection !== true;
  return hasFilters ? suite.isSelection !== true && suite.isVariant !== true : suite.isDefault === true;
}

/** True for a variant whose runtime the whole suites among the wanted ones have, too. */
function repeatsOthers({ lane, isVariant }: Suite, wanted: readonly Suite[], chosen: LaneKind): boolean {
  return isVariant === true && lane === chosen && wanted.some(followsChoice);
}

function followsChoice({ lane, isVariant }: Suite): boolean {
  return lane === "containerd" && isVariant !== true;
}

function jobOf(suite: Suite, source: string, chosen: LaneKind | undefined): Job {
  const { name, lane, timeoutMs } = suite;
  return {
    ...{ suite: name, timeoutMs, name: source.replace(/\.test\.ts$/, "") },
    lane: followsChoice(suite) ? (chosen ?? lane) : lane,
  };
}

function matches({ name }: Job, filter: string): boolean {
  return `test/${name}.test.ts`.includes(filter);
}

/** The name whose beginning is nearest to the word. */
function nearestStart(word: string, known: readonly string[]): string | undefined {
  const byStart = new Map(known.map((name) => [name.slice(0, word.length + 1), name]));
  return byStart.get(nearestName(word, byStart.keys()) ?? "");
}

function unknownWord(word: string, sources: readonly string[], named: readonly Suite[]): SetupProblem {
  const names = sources.map((source) => source.replace(/\.test\.ts$/, ""));
  const lasts = names.map((name) => name.split("/").at(-1) ?? name);
  const groups = [SUITES.map(({ name }) => name), lasts, names];
  const nearIn = (nearest: typeof nearestStart): string[] =>
    groups.map((known) => nearest(word, known)).filter((name) => name !== undefined);
  const whole = nearIn(nearestName);
  const near = whole.length > 0 ? whole : nearIn(nearestStart);
  const within = named.length === 0 ? "" : ` in ${named.map(({ name }) => name).join(", ")}`;
  const elsewhere = sources.filter((source) => `test/${source}`.includes(word));
  const places = [...new Set(elsewhere.map(suiteOf))].join(" or ");
  const meant = near.length === 0 ? "" : `; did you mean ${[...new Set(near)].join(" or ")}?`;
  const hint = places === "" ? meant : `; it is in ${places}${named.length === 0 ? ": name that suite, too" : ""}`;
  return new SetupProblem(
    `no suite and no test file${within} matches "${word}"${hint} (test/README.md lists the suites)`,
  );
}
