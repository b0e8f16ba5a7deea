// Rules of `nodelet why` about pods that end: what still runs and until when, and objects that finalizers hold back in
// the API. Pure.

import { isTerminating, terminationMark } from "../../shared/kubernetes/api/termination-mark.js";
import { duration, moment, timeOf } from "../output/amounts.js";
import { containersOf, type Finding, type WhyInput } from "./input.js";

/** Its containers are being stopped, or it has ended: nothing else about it matters more. */
export function isEnding({ pod, facts }: Pick<WhyInput, "pod" | "facts">): boolean {
  return isTerminating(pod) || facts?.worker === "terminating";
}

export function* terminationRules(input: WhyInput): Iterable<Finding> {
  const { pod, facts, now, events } = input;
  if (terminationMark(pod) === "ended") {
    yield heldFinding(input);
    return;
  }
  const deleted = timeOf(pod.metadata.deletionTimestamp);
  const ends = facts?.worker === "ending" && facts.termination !== undefined;
  if (!isEnding(input) && !ends) return;
  const running = containersOf(pod).filter(({ status }) => status?.state.running !== undefined);
  const { deadline, reason } = facts?.termination ?? {};
  const names = running.map(({ container }) => container.name).join(", ");
  const late = deadline !== undefined && now > deadline;
  const exceeded = events.some((event) => event.reason === "ExceededGracePeriod");
  const left =
    running.length > 0
      ? `still running: ${names}. ${deadline === undefined ? "" : late ? `The grace period ended at ${moment(deadline)}, and the runtime has not killed ${running.length === 1 ? "it" : "them"} yet` : `SIGKILL follows in ${duration(deadline - now)}, at ${moment(deadline)}`}`
      : "no container runs any more: the kubelet unmounts volumes and removes cgroup and sandbox";
  const unkilled = running.length > 0 && (exceeded || late);
  const preStop = running.some(({ container }) => container.lifecycle?.preStop !== undefined);
  yield {
    unkilled: unkilled ? true : undefined,
    severity: late ? "error" : "info",
    about: "pod",
    what: `it is terminating${reason === undefined ? "" : ` (${reason})`}. ${left}`,
    since: deleted !== undefined && deleted < now ? deleted : undefined,
    help: [
      ...(unkilled
        ? [
            "the runtime does not kill the container: a process in uninterruptible sleep (ps: state D) hangs on a device or a network mount",
          ]
        : []),
      ...(preStop && !late ? ["a preStop hook runs within the same grace period"] : []),
      ...(running.length === 0 ? ["a volume that hangs is listed below, if one does"] : []),
    ],
  };
  const finalizers = pod.metadata.finalizers ?? [];
  if (running.length > 0 || finalizers.length === 0) return;
  yield {
    severity: "warning",
    about: "pod",
    what: `its object stays in the API until the finalizers are removed: ${finalizers.join(", ")}`,
    help: finalizerHelp(input),
  };
}

/** The kubelet's part is done. */
function heldFinding(input: WhyInput): Finding {
  const { pod, now } = input;
  const { finalizers = [], deletionTimestamp } = pod.metadata;
  const deleted = timeOf(deletionTimestamp);
  const [are, they] = finalizers.length === 1 ? ["finalizer holds", "it is"] : ["finalizers hold", "they are"];
  return {
    severity: "warning",
    about: "pod",
    what: `its containers have ended and nothing of it is left on this node. Its ${are} the object back in the API until ${they} removed: ${finalizers.join(", ")}`,
    since: deleted !== undefined && deleted <= now ? deleted : undefined,
    help: finalizerHelp(input),
  };
}

/** Who sets the finalizers that are known, by name or domain. */
const OWNERS: readonly (readonly [name: RegExp, who: string])[] = [
  [/^batch\.kubernetes\.io\/job-tracking$/, "the Job controller in kube-controller-manager"],
  [/^(?:foregroundDeletion|orphan)$/, "the garbage collector in kube-controller-manager"],
  [/^kubernetes\.io\/|\.kubernetes\.io\//, "a controller in kube-controller-manager"],
];

function finalizerHelp({ pod }: Pick<WhyInput, "pod">): string[] {
  const { name, namespace, finalizers = [] } = pod.metadata;
  const who = finalizers.map((finalizer) => {
    const owner = OWNERS.find(([words]) => words.test(finalizer))?.[1];
    return `${finalizer}: ${owner ?? `the controller that set it${finalizer.includes("/") ? `, of ${finalizer.slice(0, finalizer.indexOf("/"))}` : ""}`} must remove it; see that it runs, and its log`;
  });
  return [
    ...who,
    `only if that controller is gone for good: kubectl patch pod ${name} -n ${namespace} --type merge -p '{"metadata":{"finalizers":null}}'`,
  ];
}
