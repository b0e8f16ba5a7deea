// From the words somebody typed to the settings the agent runs with: defaults, then the config file, then flags.
// Everything wrong with either is reported in one SettingsError. Pure but for reading the config file.
import { CONFIG_FIELDS } from "./config-fields.js";
import { readCommandLine, type Given } from "./legacy-command-line.js";
import type { ConfigFile } from "./config-file.js";
import { SettingsError } from "./errors.js";
import { OPTION_ROWS, type OPTIONS, type SettingName } from "./options.js";
import type { Decoded } from "./values.js";
import { fromConfig } from "./values.js";

type Values = { -readonly [K in SettingName]: Decoded[(typeof OPTIONS)[K]["type"]] };

/** What the agent runs with; one member per row of OPTIONS. Durations are milliseconds. */
export interface Settings extends Readonly<Omit<Values, "cgroupDriver">> {
  readonly cgroupDriver: "cgroupfs" | "systemd";
  /** The sync loop counts as stuck when it was not entered for this long. */
  readonly syncLoopMaxAgeMs: number;
  /** Lines for the log, once there is one: what was accepted but does nothing yet. */
  readonly notices: readonly string[];
}

export type CommandRequest = { action: "print"; text: string } | { action: "run"; settings: Settings };

/**
 * `argv` without the program's own words; `readFile` returns a file's text (UTF-8) or throws.
 * Throws SettingsError. Help and version ask for no valid settings.
 */
export async function loadSettings(
  argv: readonly string[],
  readFile: (path: string) => string,
): Promise<CommandRequest> {
  const line = readCommandLine(argv);
  if (line.help) return { action: "print", text: (await import("./help.js")).helpText() };
  if (line.version !== undefined) {
    return { action: "print", text: `${(await import("./version.js")).versionText(line.version)}\n` };
  }
  const problems = [...line.problems];
  const given = new Map<SettingName, Given>();
  const notices: string[] = [];
  const configPath = line.given.get("config")?.value;
  if (typeof configPath === "string" && configPath !== "") {
    const file = await loadConfig(configPath, readFile);
    problems.push(...file.config.problems);
    for (const [name, value] of fromFile(file.config, file.beside)) given.set(name, value);
    const unused = notActedOn(file.config);
    if (unused.length > 0) notices.push(`${configPath}: accepted but not acted on yet: ${unused.join(", ")}`);
  }
  for (const [name, value] of line.given) given.set(name, value);
  const values = merge(given, problems);
  if (problems.length > 0) throw new SettingsError(problems);
  return { action: "run", settings: finish(values, notices) };
}

interface LoadedConfig {
  config: ConfigFile;
  beside: (path: string) => string;
}

async function loadConfig(path: string, readFile: (path: string) => string): Promise<LoadedConfig> {
  let text: string;
  try {
    text = readFile(path);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const problems = [`--config: ${JSON.stringify(path)} cannot be read: ${why}`];
    return { config: { given: new Map(), problems }, beside: (name) => name };
  }
  const { besideFile, readConfig } = await import("./config-file.js");
  return { config: readConfig(text, path), beside: (name) => besideFile(name, path) };
}

/** The file's values by setting. */
function fromFile(config: ConfigFile, beside: (path: string) => string): Map<SettingName, Given> {
  const found = new Map<SettingName, Given>();
  for (const [name, option] of OPTION_ROWS) {
    const entry = option.field === undefined ? undefined : config.given.get(option.field);
    if (entry === undefined) continue;
    const value = option.isPath === true && typeof entry.value === "string" ? beside(entry.value) : entry.value;
    found.set(name, { ...entry, value });
  }
  return found;
}

/** Known fields that were given another value than their default and that no setting reads. */
function notActedOn(config: ConfigFile): string[] {
  const used = new Set(OPTION_ROWS.map(([, option]) => option.field));
  const defaults = new Map(CONFIG_FIELDS.map((field) => [field.path, fromConfig(field.type, field.default)]));
  return [...config.given]
    .filter(([path, { value }]) => !path.includes("[") && !used.has(path) && !same(value, defaults.get(path)))
    .map(([path]) => path);
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Every setting's value: what was given, if its check allows it, else the default. */
function merge(given: ReadonlyMap<SettingName, Given>, problems: string[]): Values {
  const values: Record<string, unknown> = {};
  for (const [name, option] of OPTION_ROWS) {
    values[name] = option.default;
    const entry = given.get(name);
    if (entry === undefined || (option.emptyIsDefault === true && isEmpty(entry.value))) continue;
    const accepted = option.check?.(entry.value as never);
    if (accepted === undefined) values[name] = entry.value;
    else problems.push(`${entry.origin.replace(/:$/, "")}: ${JSON.stringify(entry.value)} is not ${accepted}`);
  }
  return values as Values;
}

function isEmpty(value: unknown): boolean {
  return value === "" || value === 0;
}

/** Upstream's limit of the sync loop's age: twice the sync frequency, five minutes at least. */
const SYNC_LOOP_MIN_AGE_MS = 5 * 60_000;

function finish(values: Values, notices: readonly string[]): Settings {
  const runtime = withScheme(values.containerRuntimeEndpoint);
  return {
    ...values,
    containerRuntimeEndpoint: runtime,
    imageServiceEndpoint: values.imageServiceEndpoint === "" ? runtime : withScheme(values.imageServiceEndpoint),
    cgroupDriver: values.cgroupDriver === "systemd" ? "systemd" : "cgroupfs",
    // Upstream: with a cgroup tree, no root named means the hierarchy's own root.
    cgroupRoot: values.cgroupRoot === "" && values.cgroupsPerQOS ? "/" : values.cgroupRoot,
    podPidsLimit: values.podPidsLimit < 0 ? -1 : values.podPidsLimit,
    syncLoopMaxAgeMs: Math.max(2 * values.syncFrequencyMs, SYNC_LOOP_MIN_AGE_MS),
    notices,
  };
}

function withScheme(endpoint: string): string {
  return endpoint.startsWith("/") ? `unix://${endpoint}` : endpoint;
}
