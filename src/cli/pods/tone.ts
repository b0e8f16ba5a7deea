// One colour for each state of a pod or container, in the command's tables and on the status page. Pure.

import type { ApiContainerStatus } from "../../shared/kubernetes/api/pod-status.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import { podState, type PodState } from "./state.js";

/** good: as wanted; warn: on its way; bad: needs a person; plain: neither. */
export type Tone = "good" | "warn" | "bad" | "plain";

/** States through which every healthy pod passes, too. */
const UNDER_WAY =
  /^(?:Pending|SchedulingGated|ContainerCreating|PodInitializing|Running|NotReady|Terminating|Init:\d+\/\d+)$/;

/** The names of the terminal's colours. */
export const TONE_COLOURS = { good: "green", warn: "yellow", bad: "red", plain: "dim" } as const;

export function podTone(pod: Pod, { word, fine }: PodState = podState(pod)): Tone {
  return fine ? "good" : toneOfWord(word);
}

/** @param word a state that is not fine */
function toneOfWord(word: string): Tone {
  return UNDER_WAY.test(word) ? "warn" : "bad";
}

/** "running", "exited 1 (Error)", "CrashLoopBackOff". */
export function containerState(status: ApiContainerStatus | undefined): { word: string; tone: Tone } {
  const { waiting, running, terminated } = status?.state ?? {};
  if (running !== undefined) return { word: "running", tone: status?.ready === true ? "good" : "warn" };
  if (terminated !== undefined) {
    const { exitCode, reason } = terminated;
    const word = `exited ${exitCode}${reason === undefined ? "" : ` (${reason})`}`;
    return { word, tone: exitCode === 0 ? "good" : "bad" };
  }
  const word = waiting?.reason ?? "waiting";
  return { word, tone: waiting?.reason === undefined ? "warn" : toneOfWord(word) };
}
