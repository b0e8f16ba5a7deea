// The start: reads the store and the source, decides on a configuration (decide.ts) and persists the decision before the
// kubelet runs with it. If the kubelet crashes, the next start finds the configuration of that process there.
import { digestOf, shortDigest, type ConfigFiles } from "./config-files.js";
import { chooseConfiguration, type Choice, type ChoiceInput } from "./decide.js";
import { DynamicConfig, type DynamicConfigOptions } from "./dynamic-config.js";
import { isSourceReadError } from "./errors.js";

/**
 * Chooses the configuration of this start; the settings are read from `files` of the result. `validate` is called
 * last for exactly those files, where there are any. Rejects with DynamicConfigDirError.
 */
export async function prepareConfiguration(options: DynamicConfigOptions): Promise<DynamicConfig> {
  const dynamic = new DynamicConfig(options);
  await dynamic.open();
  const found = new Map<string, ConfigFiles>();
  const offered = await readSource(dynamic, found);
  for (const name of ["current", "assigned", "last-known-good"] as const) {
    const digest = dynamic.meta.get(name)?.digest;
    if (digest === undefined || found.has(digest)) continue;
    const files = await dynamic.checkpoints.load(digest);
    if (files !== undefined) found.set(digest, files);
  }
  const choice = await chooseValid(dynamic, offered, found);
  await writeDown(dynamic, choice, found);
  return dynamic;
}

type Offered = ChoiceInput["offered"];

async function readSource({ options }: DynamicConfig, found: Map<string, ConfigFiles>): Promise<Offered> {
  try {
    const files = await options.source.read();
    const digest = await digestOf(files);
    found.set(digest, files);
    return { digest };
  } catch (error) {
    if (!isSourceReadError(error)) throw error;
    return { error: error.message };
  }
}

/** Chooses a configuration and validates it; chooses again without it if validation refuses it. Ends, because each round excludes one. */
async function chooseValid(
  { options, meta }: DynamicConfig,
  offered: Offered,
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
    const choice = chooseConfiguration({ known, offered, whole: new Set(found.keys()), refused });
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
    if (assigned !== undefined) await meta.point("assigned", assigned);
    const running = meta.get("trial");
    if (trial === undefined) await meta.set("trial", undefined);
    else await meta.set("trial", { ...trial, since: running?.digest === trial.digest ? running.since : meta.time() });
  });
  await dynamic.activate(active === undefined || files === undefined ? undefined : { digest: active, files });
  dynamic.report(choice.error);
  if (active !== undefined) options.log.info({ digest: active }, startLine(active, trial?.starts));
  await dynamic.prune();
}

function startLine(digest: string, starts: number | undefined): string {
  const trial = starts === undefined ? "the last known good one" : `on trial, start ${starts}`;
  return `running with configuration ${shortDigest(digest)}, ${trial}`;
}
