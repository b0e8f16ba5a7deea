// nodelet delete: removes manifests from the node. Their pods terminate with their grace period.

import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import { AnswerError } from "../client.js";
import type { Context } from "../context.js";
import { CliError, EXIT, NoPodError, type ExitCode } from "../errors.js";
import { deleteManifest, nodeState } from "../manifests/node-manifests.js";
import { errorText, Outcomes } from "../manifests/outcome.js";
import { readManifests, type ManifestInput } from "../manifests/read.js";
import { targetOf, withoutKind } from "../manifests/target.js";
import { goDurationMs, wholeNumber } from "../output/go-duration.js";
import { manifestName, podsOf } from "../pods/find.js";
import { MissingArgumentError } from "../usage-errors.js";

export interface DeleteOptions extends ManifestInput {
  wait?: boolean;
  timeout?: string;
  gracePeriod?: string;
  now?: boolean;
  force?: boolean;
  /** All manifests of the manifest API. */
  all?: boolean;
  ignoreNotFound?: boolean;
  dryRun?: boolean;
}

interface Deletion {
  namespace: string;
  name: string;
  /** The pod's own; undefined: there is none. */
  uid: PodUid | undefined;
  /** Its manifest was deleted before. */
  isTerminating: boolean;
}

const POLL_MS = 500;

export async function deleteCommand(
  context: Context,
  names: readonly string[],
  options: DeleteOptions,
): Promise<ExitCode> {
  const { client, clock } = context;
  const { all = false, dryRun = false, filename = [], wait = true } = options;
  const isNamed = names.length + filename.length > 0;
  if (!isNamed && !all) {
    throw new MissingArgumentError("no pod is named: give pods, or their manifests with -f, or all of them with --all");
  }
  if (isNamed && all) throw new CliError(EXIT.usage, "--all excludes names and files");
  const gracePeriodSeconds = gracePeriodOf(options);
  const timeoutMs = goDurationMs("--timeout", options.timeout ?? "0");
  const outcomes = new Outcomes(context, dryRun);
  const deleted: Deletion[] = [];
  for (const one of await deletions(context, names, options, outcomes)) {
    const done = await outcomes.run(one, async () => {
      const isHurried = one.isTerminating && gracePeriodSeconds !== undefined && !dryRun;
      if (one.isTerminating && !isHurried) return "is being deleted already";
      const isKnown = await ofOneDeletion(isHurried, () =>
        deleteManifest(client, { ...one, gracePeriodSeconds, dryRun }),
      );
      if (!isHurried) return "deleted";
      const seconds = Math.max(gracePeriodSeconds, 1);
      return isKnown ? `is being deleted already, now within ${seconds} s` : "is being deleted already";
    });
    if (done) deleted.push(one);
  }
  if (!wait || dryRun) return await outcomes.end();
  const deadline = timeoutMs === 0 ? Infinity : clock.steady() + timeoutMs;
  let left = deleted;
  for (;;) {
    const there = new Set(left.length === 0 ? [] : (await podsOf(client)).map(({ metadata }) => metadata.uid));
    left = left.filter(({ uid }) => uid !== undefined && there.has(uid));
    if (left.length === 0 || clock.steady() >= deadline) break;
    await clock.sleep(Math.min(POLL_MS, deadline - clock.steady()));
  }
  for (const { namespace, name } of left) {
    const problem = `it still terminates after ${timeoutMs / 1000} s: nodelet why ${namespace}/${name}`;
    outcomes.fail({ name: `pod/${name}`, namespace }, `pod/${name} in namespace ${namespace}: ${problem}`, problem);
  }
  return await outcomes.end();
}

/** What is to be deleted; names and texts without a manifest are failures. */
async function deletions(
  { client, clock }: Context,
  names: readonly string[],
  options: DeleteOptions,
  outcomes: Outcomes,
): Promise<Deletion[]> {
  const { all = false, filename = [], ignoreNotFound = false, namespace } = options;
  const state = await nodeState(client);
  const read = filename.length === 0 ? undefined : await readManifests(options, clock, state.rules);
  outcomes.addFaults((read?.faults ?? []).filter(({ severity }) => severity === "error"));
  const wanted = [
    ...withoutKind(names, state).map((named) => ({ named, namespace })),
    ...(all ? state.manifests : [])
      .filter((one) => namespace === undefined || one.namespace === namespace)
      .map((one) => ({ named: one.name, namespace: one.namespace })),
    ...(read?.manifests ?? []).map((one) => ({ named: one.name, namespace: one.namespace })),
  ];
  const found: Deletion[] = [];
  for (const { named, namespace: within } of wanted) {
    try {
      const { manifest, pod } = targetOf("delete", named, within, state);
      const uid = pod?.metadata.uid;
      if (manifest !== undefined)
        found.push({ namespace: manifest.namespace, name: manifest.name, uid, isTerminating: false });
      else if (pod !== undefined) {
        const { namespace: space } = pod.metadata;
        found.push({ namespace: space, name: manifestName(pod), uid, isTerminating: true });
      }
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      if (ignoreNotFound && error instanceof NoPodError) continue;
      outcomes.fail({ name: `pod/${named}` }, `${named}: ${errorText(error)}`);
    }
  }
  return found;
}

/** False if the pod ended meanwhile, or the kubelet is older than a second deletion. */
async function ofOneDeletion(isSecond: boolean, remove: () => Promise<void>): Promise<boolean> {
  try {
    await remove();
    return true;
  } catch (error) {
    if (isSecond && error instanceof AnswerError && error.status === 404) return false;
    throw error;
  }
}

/** As kubectl's: -1 is the pod's own. Nothing is removed before its containers have ended, also with --force. */
function gracePeriodOf({ gracePeriod, now = false, force = false }: DeleteOptions): number | undefined {
  if (gracePeriod === undefined) return now || force ? 1 : undefined;
  if (now) throw new CliError(EXIT.usage, "--now and --grace-period exclude each other");
  const seconds = wholeNumber("--grace-period", gracePeriod, -1);
  return seconds < 0 ? undefined : seconds;
}
