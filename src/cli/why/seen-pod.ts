// A pod's state with what `nodelet why` finds, so that lists of pods never call a pod well that `why` calls broken.
// Pure.

import type { Pod } from "../../shared/kubernetes/api/pod.js";
import { podState, type PodState } from "../pods/state.js";
import { explain } from "./explain.js";
import type { Finding, WhyInput } from "./input.js";
import { isEnding } from "./termination.js";

export interface ShownPod {
  pod: Pod;
  /** `fine` is false for a pod that runs and is ready, and has an error of its own. */
  state: PodState;
}

export interface SeenPod extends ShownPod {
  /** "is restarting: running and ready now, after 3 restarts". */
  verdict: string;
  /** The cause that `nodelet why` names first. */
  finding?: Finding | undefined;
  /** `nodelet why` exits with 0: neither the pod nor the node below it has an error. */
  explainedAsFine: boolean;
}

/** Findings that are shown once for the node, or as a row of their own. */
const OF_OTHERS: readonly string[] = ["node", "manifest"];

export function seenPod(input: WhyInput): SeenPod {
  const { pod } = input;
  const explained = explain(input, undefined);
  const own = explained.findings.filter(({ about }) => !OF_OTHERS.includes(about));
  const state = explained.fine ? podState(pod) : stateOf(podState(pod), isEnding(input), own);
  const [finding] = own;
  return {
    pod,
    state,
    verdict: explained.verdict,
    finding: finding !== undefined && finding.severity !== "info" ? finding : undefined,
    explainedAsFine: explained.fine,
  };
}

function stateOf(state: PodState, ending: boolean, own: readonly Finding[]): PodState {
  if (!state.fine) return state;
  if (ending) return { ...state, word: "Terminating", fine: false };
  const errors = own.filter(({ severity }) => severity === "error");
  if (errors.length === 0) return state;
  return { ...state, word: wordOf(state, errors), fine: false };
}

/** A pod that runs and is ready, or has completed. */
function wordOf({ word }: PodState, errors: readonly Finding[]): string {
  if (!errors.some(({ restarting }) => restarting === true)) return "Unhealthy";
  return word === "Completed" ? "Stopped" : "Restarting";
}
