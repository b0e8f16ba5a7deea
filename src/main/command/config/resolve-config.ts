// Computes the effective configuration, in upstream's order: the file of --config, the drop-ins of --config-dir, gates,
// defaults, flags, rules. Returns all problems together. Pure except for `io`.

import { messageOf } from "../../../shared/base/errors/thrown.js";
import { resolveGates } from "../gates/feature-gates.js";
import { configWarnings, validateConfig } from "../rules/index.js";
import type { HostFacts } from "../rules/rule.js";
import type { Violation } from "../violation.js";
import { withDefaults, withDerived, withoutEmptyFields } from "./defaults.js";
import { dropInOrder } from "./drop-in-order.js";
import { EffectiveConfig } from "./effective.js";
import { type FlagValue, withFlags } from "./flags-over-config.js";
import { mergeMaps } from "./merge.js";
import { isInBrokenList, isTolerated, isWritten, problemOf, reportLines, type Problem } from "./report.js";
import { MOST_OF_ALL, SUM_LIMIT } from "./size-limits.js";
import { at, NOTHING, plain, type MapNode } from "./tree.js";
import { usable } from "./usable.js";

export interface ConfigIo {
  /** A file's text or its bytes, or throws. Of one beyond SIZE_LIMIT the beginning suffices. */
  readFile(path: string, kind: "file" | "drop-in"): string | Uint8Array;
  /**
   * All files below a directory, relative to it, parts joined by "/"; symbolic links are not followed. What else the
   * path is if it is no directory. Throws.
   */
  listFiles(dir: string): string[] | "link" | "file";
  /**
   * The ConfigMap that the cluster assigns, in place of the file of --config; `path` names it in messages and origins.
   */
  readonly configMap?: { readonly path: string; readonly text: string } | undefined;
}

export interface ResolvedConfig {
  config: EffectiveConfig;
  /** Read, in this order. */
  files: string[];
  /** A line each, with its place, in the order of reading. */
  problems: string[];
  /** Those of the problems that a start tolerates. */
  tolerated: string[];
  /** Lines for the log. */
  notices: string[];
}

export async function resolveConfig(
  flags: ReadonlyMap<string, FlagValue>,
  io: ConfigIo,
  host: HostFacts,
  flagViolations: readonly Violation[] = [],
): Promise<ResolvedConfig> {
  const configPath = io.configMap?.path ?? textOf(flags, "config");
  const sources = await readSources(configPath, textOf(flags, "config-dir"), io);
  const raw = [sources.base, ...sources.dropIns].reduce((merged, patch) => mergeMaps(merged, patch), NOTHING);
  const gates = resolveGates(gatesOf(withFlags(raw, flags)));
  const gate: EffectiveConfig["gate"] = (name) => gates.gates.enabled(name);

  const base = withDefaults(mergeMaps(undefined, sources.base), { flagOnly: configPath === "", gate });
  const below = textOf(flags, "config-dir") === "" ? base : withoutEmptyFields(base);
  const merged = sources.dropIns.reduce((tree, patch) => mergeMaps(tree, patch), below);
  const tree = withFlags(withDefaults(merged, { flagOnly: false, gate, isMerged: true }), flags);
  const validated = new EffectiveConfig(tree, gate);

  const violations = [...gates.violations, ...validateConfig(validated, host), ...usable(validated), ...flagViolations];
  const found = violations.map((violation) => problemOf(violation, validated));
  const isReportable = (problem: Problem): boolean => isWritten(problem) && !isInBrokenList(problem, sources.problems);
  const reportable = sources.problems.every(isTolerated) ? found : found.filter(isReportable);
  const problems = [...sources.problems, ...reportable];
  return {
    config: new EffectiveConfig(withDerived(tree), gate),
    files: sources.files,
    problems: reportLines(problems, sources.files),
    tolerated: reportLines(problems.filter(isTolerated), sources.files),
    notices: [...gates.notices, ...configWarnings(validated)],
  };
}

interface Sources {
  base: MapNode;
  dropIns: MapNode[];
  files: string[];
  problems: Problem[];
}

/** The YAML reader is loaded only when there is something to read. */
async function readSources(configPath: string, configDir: string, io: ConfigIo): Promise<Sources> {
  const sources: Sources = { base: NOTHING, dropIns: [], files: [], problems: [] };
  if (configPath === "" && configDir === "") return sources;
  const { readConfig } = await import("./read-config.js");
  let left = SUM_LIMIT;
  const kept = { tolerated: 0, others: 0 };
  const keep = (problem: Problem, flag: string): void => {
    const count = ++kept[isTolerated(problem) ? "tolerated" : "others"];
    if (count <= MOST_OF_ALL) sources.problems.push(problem);
    if (count !== MOST_OF_ALL + 1) return;
    const message = `the files have more than ${MOST_OF_ALL} problems of one kind; further ones are not listed`;
    sources.problems.push({ ...problem, origin: { kind: "flag", flag }, path: `--${flag}`, message });
  };
  const read = (path: string, flag: string, kind: "file" | "drop-in"): MapNode => {
    if (left < 0) return NOTHING;
    const isConfigMap = kind === "file" && io.configMap !== undefined;
    const text = isConfigMap
      ? io.configMap.text
      : attempt(() => io.readFile(path, kind), flag, `${JSON.stringify(path)} cannot be read`, sources.problems);
    if (text === undefined) return NOTHING;
    left -= text.length;
    if (left < 0) {
      const message = `${JSON.stringify(path)} and the files before it have more than ${SUM_LIMIT / 1024 / 1024} MiB`;
      sources.problems.push({ origin: { kind: "flag", flag }, path: `--${flag}`, message });
      return NOTHING;
    }
    const { tree, problems } = readConfig(text, path, kind, !isConfigMap);
    sources.files.push(path);
    for (const problem of problems) keep(problem, flag);
    return tree;
  };
  if (configPath !== "") sources.base = read(configPath, "config", "file");
  if (configDir !== "") {
    const missing = `${JSON.stringify(configDir)} cannot be listed`;
    const files = attempt(() => io.listFiles(configDir), "config-dir", missing, sources.problems) ?? [];
    if (typeof files === "string" && !configDir.endsWith(".conf")) sources.problems.push(noDirectory(configDir, files));
    sources.dropIns = dropInPaths(configDir, files).map((path) => read(path, "config-dir", "drop-in"));
  }
  return sources;
}

/** As upstream, whose walk begins at the path itself: a file named *.conf is a drop-in, too. */
function dropInPaths(configDir: string, files: string[] | "link" | "file"): string[] {
  if (typeof files === "string") return dropInOrder([configDir]);
  const dir = configDir.endsWith("/") ? configDir : `${configDir}/`;
  return dropInOrder(files).map((file) => `${dir}${file}`);
}

/** Upstream starts, without a word about it. */
function noDirectory(configDir: string, kind: "link" | "file"): Problem {
  const why =
    kind === "link"
      ? `a symbolic link, which is not followed, so that no drop-in is read; write ${JSON.stringify(`${configDir}/`)}`
      : "no directory, and its name does not end with .conf: it is not read";
  const message = `${JSON.stringify(configDir)} is ${why}`;
  return { origin: { kind: "flag", flag: "config-dir" }, path: "--config-dir", message, isTolerated: true };
}

function attempt<T>(action: () => T, flag: string, what: string, problems: Problem[]): T | undefined {
  try {
    return action();
  } catch (error) {
    const message = `${what}: ${messageOf(error)}`;
    problems.push({ origin: { kind: "flag", flag }, path: `--${flag}`, message });
    return undefined;
  }
}

function textOf(flags: ReadonlyMap<string, FlagValue>, name: string): string {
  const value = flags.get(name)?.value;
  return typeof value === "string" ? value : "";
}

function gatesOf(tree: MapNode): Record<string, boolean> {
  const gates = at(tree, "featureGates");
  return gates === undefined ? {} : (plain(gates) as Record<string, boolean>);
}
