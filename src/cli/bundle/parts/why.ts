// The part of a support bundle that explains each broken pod: `nodelet why`, without what containers wrote.

import { messageOf } from "../../../shared/base/errors/thrown.js";
import type { NodeletEvents } from "../../../shared/contracts/nodelet.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { moment } from "../../output/amounts.js";
import { fullName, podsOf } from "../../pods/find.js";
import { podState } from "../../pods/state.js";
import { explainNamed } from "../../why/explain-named.js";
import type { Explanation } from "../../why/explain.js";
import { maskMessage } from "../mask.js";
import type { Part, Sources } from "../part.js";
import { wordsOf } from "../words.js";

const MAX_ASKED = 200;
const MAX_SHOWN = 30;
const POD_BYTES = 16 * 1024;

export function whyPart(sources: Sources): Part {
  return { name: "why.txt", deadlineMs: 60_000, read: (signal) => whyOfPods(sources, signal) };
}

async function whyOfPods({ client }: Sources, signal: AbortSignal): Promise<string> {
  const pods = await podsOf(client);
  const { items } = await client.json<NodeletEvents>("/nodelet/events");
  // The broken ones first: a pod that runs may have a finding, too.
  const asked = pods.toSorted((a, b) => Number(podState(a).fine) - Number(podState(b).fine)).slice(0, MAX_ASKED);
  const texts: string[] = [];
  let [fine, left] = [0, 0];
  for (const pod of asked) {
    signal.throwIfAborted();
    const text = await whyOf(pod, async () => (await explainNamed(client, fullName(pod))).explanation, items);
    if (text === undefined) fine++;
    else if (texts.length < MAX_SHOWN) texts.push(text);
    else left++;
  }
  const rest = [
    `${fine} pods without a finding`,
    ...(left > 0 ? [`${left} more pods with findings are left out`] : []),
  ];
  if (pods.length > asked.length) rest.push(`${pods.length - asked.length} pods were not examined`);
  return [...texts, `${rest.join("\n")}\n`].join("\n");
}

/** undefined: nothing is wrong with it. */
async function whyOf(
  pod: Pod,
  explain: () => Promise<Explanation>,
  events: NodeletEvents["items"],
): Promise<string | undefined> {
  try {
    const explanation = await explain();
    if (explanation.fine && explanation.findings.length === 0) return undefined;
    const words = wordsOf(pod, events);
    return `${explanationText(explanation, (text) => maskMessage(words.mask(text))).slice(0, POD_BYTES)}\n`;
  } catch (error) {
    return `${fullName(pod)}: not available: ${maskMessage(messageOf(error))}\n`;
  }
}

/** Only these members: another may hold what a container wrote. @internal */
export function explanationText(
  { pod, verdict, findings, decisions }: Explanation,
  mask: (text: string) => string,
): string {
  return [
    `${pod} ${mask(verdict)}`,
    ...findings.flatMap(({ severity, about, what, since, nextTryAt, help }) => [
      `  ${severity} ${about}: ${mask(what)}`,
      ...(since === undefined ? [] : [`    since ${moment(since)}`]),
      ...(nextTryAt === undefined ? [] : [`    next try ${moment(nextTryAt)}`]),
      ...help.map((text) => `    - ${mask(text)}`),
    ]),
    ...decisions.map(
      ({ at, what, count = 1 }) => `  ${moment(at)} ${mask(what)}${count > 1 ? ` (${count} times)` : ""}`,
    ),
  ].join("\n");
}
