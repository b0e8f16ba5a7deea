// Combines the rules: the verdict about a pod, the findings by weight, and the decisions in their order. Pure.

import type { PodTimeline } from "../../shared/contracts/timeline.js";
import { timeOf } from "../output/amounts.js";
import { fullName } from "../pods/find.js";
import { podState } from "../pods/state.js";
import { admissionRules } from "./admission.js";
import { decisionsOf, type Decision } from "./decisions.js";
import { exitRules } from "./exits.js";
import { imageRules } from "./images.js";
import type { Finding, Rule, WhyInput } from "./input.js";
import { manifestFindings } from "./manifest.js";
import { plainText } from "./plain-text.js";
import { nameRules, nodeRules, sandboxRules, syncRules, waitRules } from "./pod-life.js";
import { probeRules } from "./probes.js";
import { isEnding, terminationRules } from "./termination.js";
import { volumeRules } from "./volumes.js";

/** In the order in which they are shown among findings of one weight. */
const RULES: readonly Rule[] = [
  nodeRules,
  admissionRules,
  nameRules,
  terminationRules,
  volumeRules,
  sandboxRules,
  imageRules,
  exitRules,
  probeRules,
  waitRules,
];

export interface Explanation {
  pod: string;
  uid: string;
  /** Set when this is about a manifest that makes no pod: its origin. */
  manifest?: string;
  verdict: string;
  /** The pod runs and is ready, or has completed. */
  fine: boolean;
  findings: Finding[];
  decisions: Decision[];
}

const WEIGHT = { error: 0, warning: 1, info: 2 } as const;

export function explain(input: WhyInput, timeline: PodTimeline | undefined): Explanation {
  const { pod } = input;
  const found = RULES.flatMap((rule) => [...rule(input)]);
  // A failed pass is only the symptom of what another rule explains.
  const all = found.some(({ severity }) => severity === "error") ? found : [...found, ...syncRules(input)];
  const sorted = all
    .map((finding) => ({ ...finding, what: plainText(finding.what) }))
    .toSorted((a, b) => WEIGHT[a.severity] - WEIGHT[b.severity]);
  // What is ignored of a pod's definition is likely to cause the rest.
  const findings = [...manifestFindings(input), ...sorted];
  const { fine } = podState(pod);
  const unexplained = !fine && findings.length === 0;
  return {
    pod: fullName(pod),
    uid: pod.metadata.uid,
    verdict: verdictOf(input, findings),
    fine: fine && !isEnding(input) && !findings.some(({ severity }) => severity === "error"),
    findings: unexplained ? [underWay(input)] : findings,
    decisions: decisionsOf(input.events, timeline),
  };
}

function verdictOf(input: WhyInput, findings: readonly Finding[]): string {
  if (isEnding(input)) return "is terminating";
  const { word, ready, containers, restarts } = podState(input.pod);
  const times = restarts === 0 ? "" : `, after ${restarts} restart${restarts === 1 ? "" : "s"}`;
  const restarting = findings.some((finding) => finding.severity === "error" && finding.restarting === true);
  if (word === "Completed") return restarting ? "has ended, because the kubelet stopped it" : "has completed";
  if (word === "Running") {
    const readiness =
      ready === containers ? "running and ready" : `running, ${ready} of ${containers} containers are ready`;
    return restarting ? `is restarting: ${readiness} now${times}` : `is ${readiness}${times}`;
  }
  return `is not running: ${word}${times}`;
}

/** No rule found a cause: the kubelet's current action. */
function underWay({ pod, facts, events, now }: WhyInput): Finding {
  const last = events.at(-1);
  const began = timeOf(pod.status?.startTime);
  return {
    severity: "info",
    about: "pod",
    what:
      `the kubelet is working on it${facts?.worker === undefined ? "" : ` (pod worker: ${facts.worker})`}` +
      (last === undefined ? "" : `; the last event was ${last.reason}: ${plainText(last.message)}`),
    since: began !== undefined && began < now ? began : undefined,
    help: [`watch its steps: nodelet timeline ${pod.metadata.name}`],
  };
}
