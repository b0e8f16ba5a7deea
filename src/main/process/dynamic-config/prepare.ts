// Chooses the configuration at the start: reads the store and the source, decides (decide.ts) and persists the
// decision. So after a crash the next start finds the configuration of the crashed process.

import { digestOf, shortDigest, type ConfigFiles } from "./config-files.js";
import { chooseConfiguration, type Choice, type ChoiceInput } from "./decide.js";
import { DynamicConfig, type DynamicConfigOptions } from "./dynamic-config.js";
import { SourceReadError } from "./errors.js";
import { restartMessage } from "./restart-message.js";

/**
 * Chooses the configuration of this start; the settings are read from `files` of the result. `validate` is called
 * last for exactly those files, where there are any. Rejects with OperatorError.
 */
export async function prepareConfiguration(options: DynamicConfigOptions): Promise<DynamicConfig> {
  const dynamic = new DynamicConfig(options);
  await dynamic.open();
  const found = new Map<string, ConfigFiles>();
  const offered = await readSource(dynamic, found);
  const local = await readLocal(dynamic, found);
  for (const name of ["current", "assigned", "last-known-good"] as const) {
    const digest = dynamic.meta.get(name)?.digest;
    if (digest === undefined || found.has(digest)) continue;
    const files = await dynamic.checkpoint(digest);
    if (files !== undefined) found.set(digest, files);
  }
  const choice = await chooseValid(dynamic, { offered, local }, found);
  await writeDown(dynamic, choice, found);
  return dynamic;
}

type Offered = ChoiceInput["offered"];

async function readSource(dynamic: DynamicConfig, found: Map<string, ConfigFiles>): Promise<Offered> {
  try {
    const files = await dynamic.read();
    const digest = await digestOf(files);
    found.set(digest, files);
    return { digest };
  } catch (error) {
    if (!(error instanceof SourceReadError)) throw error;
    return { error: error.message };
  }
}

/** For a node whose cluster assigns another configuration; that they cannot be read is no news then. */
async function readLocal({ options }: DynamicConfig, found: Map<string, ConfigFiles>): Promise<string | undefined> {
  try {
    const files = await options.source.readLocal?.();
    if (files === undefined) return undefined;
    const digest = await digestOf(files);
    if (!found.has(digest)) found.set(digest, files);
    return digest;
  } catch (error) {
    if (!(error instanceof SourceReadError)) throw error;
    return undefined;
  }
}

/**
 * Chooses a configuration and validates it; chooses again without it if validation refuses it. Ends, because each round
 * excludes one.
 */
async function chooseValid(
  { options, meta }: DynamicConfig,
  offer: Pick<ChoiceInput, "offered" | "local">,
  found: ReadonlyMap<string, ConfigFiles>,
): Promise<Choice> {
  const known = {
    assigned: meta.get("assigned"),
    current: meta.get("current"),
    lastKnownGood: meta.get("last-known-good"),
    trial: meta.get("trial"),
    bad: meta.bad,
  };
  const refused = new Map<string, string>();
  for (;;) {
    const choice = chooseConfiguration({ known, ...offer, whole: new Set(found.keys()), refused });
    const files = choice.active === undefined ? undefined : found.get(choice.active);
    if (choice.active === undefined || files === undefined) return choice;
    const validation = await options.validate(files);
    if (validation.ok) return choice;
    refused.set(choice.active, validation.problems.join("; "));
  }
}

async function writeDown(
  dynamic: DynamicConfig,
  choice: Choice,
  found: ReadonlyMap<string, ConfigFiles>,
): Promise<void> {
  const { meta, checkpoints, options } = dynamic;
  const { active, assigned, trial, markBad } = choice;
  const files = active === undefined ? undefined : found.get(active);
  await dynamic.attempt("record the configuration of this start", async () => {
    if (markBad !== undefined) await meta.markBad(markBad.digest, markBad.reason);
    if (active !== undefined && files !== undefined) await checkpoints.save(active, files, options.source.name);
    if (assigned !== undefined) await meta.point("assigned", assigned, configMapOf(dynamic, assigned, found));
    const running = meta.get("trial");
    if (trial === undefined) await meta.set("trial", undefined);
    else await meta.set("trial", { ...trial, since: running?.digest === trial.digest ? running.since : meta.time() });
  });
  await announce(dynamic, choice, files);
  await dynamic.activate(active === undefined || files === undefined ? undefined : { digest: active, files });
  dynamic.report(choice.error);
  if (active !== undefined) options.log.info({ digest: active }, startLine(active, trial?.starts));
  await dynamic.prune();
}

/**
 * The event of a change for a process that was killed between the assignment and its restart. The follower sends it.
 */
async function announce(
  dynamic: DynamicConfig,
  { active, markBad }: Choice,
  files: ConfigFiles | undefined,
): Promise<void> {
  const { meta } = dynamic;
  const before = meta.get("current")?.digest;
  if (active === undefined || files === undefined || before === undefined || before === active) return;
  if (markBad === undefined && meta.get("announcement")?.digest === active) return;
  const message = restartMessage(active, files, undefined);
  const announcement = markBad === undefined ? { digest: active, message, sent: false } : undefined;
  await dynamic.attempt("record the event of the change", () => meta.set("announcement", announcement));
}

/** Returns the reference of the ConfigMap with this configuration: of the source just read, else as recorded. */
function configMapOf(
  { meta }: DynamicConfig,
  digest: string,
  found: ReadonlyMap<string, ConfigFiles>,
): ConfigFiles["configMap"] {
  const files = found.get(digest);
  return files === undefined ? meta.get("assigned")?.configMap : files.configMap;
}

function startLine(digest: string, starts: number | undefined): string {
  const trial = starts === undefined ? "the last known good one" : `on trial, start ${starts}`;
  return `running with configuration ${shortDigest(digest)}, ${trial}`;
}
