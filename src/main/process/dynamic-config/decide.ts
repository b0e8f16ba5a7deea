// Chooses the configuration with which the kubelet starts. Pure: from the store's records and the source's offer.
//
//   offered ──▶ assigned ──start──▶ on trial ──ran healthy──▶ last known good
//                                      │
//                                      └──failed, or too many starts──▶ bad ──▶ back to the last known good
//
// Invariant: a configuration marked bad is never chosen; a configuration becomes bad only if there is another one to
// run; the last known good configuration is not on trial.

import { shortDigest } from "./config-files.js";
import type { BadMark, Pointer, Trial } from "./meta.js";

/** Number of starts that may end during the trial; the next start uses the last known good configuration. */
const MAX_TRIAL_STARTS = 3;

/** @internal */
export interface Known {
  readonly assigned?: Pointer | undefined;
  /** The configuration of the last kubelet. */
  readonly current?: Pointer | undefined;
  readonly lastKnownGood?: Pointer | undefined;
  readonly trial?: Trial | undefined;
  readonly bad: readonly BadMark[];
}

export interface ChoiceInput {
  readonly known: Known;
  /** The current content of the source. */
  readonly offered: { readonly digest: string } | { readonly error: string };
  /** The node's own files, where the source offers a ConfigMap: used when no configuration has passed its trial. */
  readonly local?: string | undefined;
  /** Digests whose checkpoint was found whole. */
  readonly whole: ReadonlySet<string>;
  /** Digests the validation refused at this start, with the report. */
  readonly refused: ReadonlyMap<string, string>;
}

export interface Choice {
  /**
   * Digest to run. Undefined: nothing usable is known, the source's files are read as without dynamic configuration.
   */
  readonly active: string | undefined;
  /** Digest the store should name as assigned from now on. */
  readonly assigned: string | undefined;
  /** The trial this start counts in; undefined when none is under way. */
  readonly trial: { readonly digest: string; readonly starts: number } | undefined;
  readonly markBad: { readonly digest: string; readonly reason: string } | undefined;
  /** Why the choice differs from the source's configuration. */
  readonly error: string | undefined;
}

export function chooseConfiguration(input: ChoiceInput): Choice {
  const { known, offered } = input;
  const good = known.lastKnownGood?.digest;
  const fallback = [good, input.local].find((digest) => digest !== undefined && usable(input, digest));
  const trialOf = (digest: string | undefined): Choice["trial"] => {
    if (digest === undefined || digest === good) return undefined;
    return { digest, starts: (known.trial?.digest === digest ? known.trial.starts : 0) + 1 };
  };
  const sourceError = "error" in offered ? offered.error : objection(input, offered.digest);
  const accepted = "digest" in offered && sourceError === undefined ? offered.digest : undefined;
  const candidate = accepted ?? kept(input);
  const assigned = accepted ?? known.assigned?.digest ?? candidate;

  if (candidate === undefined || candidate === good) {
    const active = candidate ?? fallback;
    return { active, assigned, trial: trialOf(active), markBad: undefined, error: sourceError };
  }
  const trial = known.trial?.digest === candidate ? known.trial : undefined;
  const failure = trial === undefined ? undefined : failureOf(trial);
  if (failure !== undefined && fallback !== undefined && fallback !== candidate) {
    const markBad = { digest: candidate, reason: failure };
    const which = fallback === good ? "the last known good one" : "the node's own files";
    const error = `configuration ${shortDigest(candidate)} ${failure}; back to ${which}, ${shortDigest(fallback)}`;
    return { active: fallback, assigned, trial: trialOf(fallback), markBad, error };
  }
  const error =
    failure === undefined
      ? sourceError
      : `configuration ${shortDigest(candidate)} ${failure}, but there is no earlier one to go back to`;
  return { active: candidate, assigned, trial: trialOf(candidate), markBad: undefined, error };
}

/** Why a trial counts as failed, as the end of a sentence about the configuration; undefined while it does not. */
function failureOf(trial: Trial): string | undefined {
  if (trial.failure !== undefined) return `failed: ${trial.failure}`;
  return trial.starts < MAX_TRIAL_STARTS ? undefined : `was started ${trial.starts} times and never passed its trial`;
}

/** The fallback if the source's configuration is unusable: the one that ran last, else the one assigned last. */
function kept(input: ChoiceInput): string | undefined {
  const { current, assigned } = input.known;
  return [current, assigned].find((pointer) => pointer !== undefined && usable(input, pointer.digest))?.digest;
}

function usable(input: ChoiceInput, digest: string): boolean {
  const present = input.whole.has(digest) || ("digest" in input.offered && input.offered.digest === digest);
  return present && objection(input, digest) === undefined;
}

function objection({ known, refused }: ChoiceInput, digest: string): string | undefined {
  const report = refused.get(digest);
  if (report !== undefined) return `configuration ${shortDigest(digest)} is not valid: ${report}`;
  return knownBad(known.bad, digest);
}

/** The message for a configuration that is marked bad; undefined for any other. */
export function knownBad(bad: readonly BadMark[], digest: string): string | undefined {
  const mark = bad.find((entry) => entry.digest === digest);
  if (mark === undefined) return undefined;
  return `configuration ${shortDigest(digest)} is refused since ${mark.since}: it ${mark.reason}; change it to have it tried again`;
}
