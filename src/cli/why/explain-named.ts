// Explains the pod or manifest that an operator names, with all that the kubelet knows of it.

import type { NodeletEvents, NodeletStatus, PodFacts } from "../../shared/contracts/nodelet.js";
import type { PodTimeline } from "../../shared/contracts/timeline.js";
import type { Event } from "../../shared/kubernetes/api/event.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import type { Client } from "../client.js";
import { NoPodError } from "../errors.js";
import { manifestsOf } from "../manifests/find.js";
import { since } from "../output/amounts.js";
import { podsOf } from "../pods/find.js";
import { ofMain } from "../pods/of-main.js";
import { podPath } from "../pods/pod-paths.js";
import { apiServerFails } from "../problems.js";
import { withCni } from "../runtime/cni-places.js";
import { explainManifests } from "./explain-manifest.js";
import { explain, type Explanation } from "./explain.js";
import type { Finding, WhyInput } from "./input.js";
import { withOutput } from "./last-output.js";
import { withPortHolder } from "./port-holder.js";
import { subjectOf } from "./subject.js";
import { withUnkilled } from "./unkilled.js";

export interface NamedExplanation {
  explanation: Explanation;
  /** The kubelet's wall time, ms. */
  now: number;
}

/** @throws NoPodError */
export async function explainNamed(client: Client, named: string, namespace?: string): Promise<NamedExplanation> {
  const [status, pods, manifests] = await Promise.all([
    client.json<NodeletStatus>("/nodelet/status"),
    podsOf(client),
    manifestsOf(client),
  ]);
  const subject = withOutage(status, () => subjectOf(pods, manifests, named, namespace));
  if (subject.kind === "manifests") {
    return { explanation: explainManifests(subject.manifests), now: status.now };
  }
  const { pod } = subject;
  const [facts, events, timeline] = await Promise.all([
    ofMain(() => client.find<PodFacts>(`/nodelet/pods/${podPath(pod)}`)),
    ofMain(() => eventsAbout(client, pod)),
    ofMain(() => client.find<PodTimeline>(`/debug/pods/${podPath(pod)}/timeline`)),
  ]);
  const failed = events?.some(({ reason }) => reason === "FailedCreatePodSandBox") ?? false;
  const node = await withCni(status, failed && pod.status?.phase === "Pending");
  const input: WhyInput = { pod, facts, events: events ?? [], node, pods, now: node.now };
  const explained = explain(input, timeline);
  const findings = await Promise.all(explained.findings.map((finding) => withEvidence(client, input, finding)));
  return { explanation: { ...explained, findings }, now: node.now };
}

/** A pod may be missing because the API server cannot say that it is there. */
function withOutage<T>({ apiServer, facts, now }: NodeletStatus, find: () => T): T {
  try {
    return find();
  } catch (error) {
    if (!(error instanceof NoPodError) || apiServer?.problem === undefined) throw error;
    const { awaySince } = facts?.api ?? {};
    const duration = awaySince === undefined ? "" : ` ${since(awaySince, now)}`;
    const when =
      facts?.settled === false
        ? "this kubelet learns of the API's pods when it is back, and their containers run on until then"
        : "a pod that was made meanwhile arrives when it is back";
    throw new NoPodError(
      `${error.message}, and the API server ${apiServerFails(apiServer)}${duration}: ${when}`,
      `see \`nodelet status\`; ${error.remedy ?? ""}`,
    );
  }
}

async function withEvidence(client: Client, { pod, pods, node }: WhyInput, finding: Finding): Promise<Finding> {
  const places = { kubelet: node.pid, pods };
  const shown = await withUnkilled(pod, await withOutput(client, pod, finding), places);
  return await withPortHolder(pod, shown, places);
}

async function eventsAbout(client: Client, { metadata }: Pod): Promise<Event[]> {
  const { items } = await client.json<NodeletEvents>("/nodelet/events");
  return items.filter(({ involvedObject }) => involvedObject.uid === metadata.uid);
}
