// nodelet status: the node on one screen.

import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import type { ConfigurationFacts, NodeletStatus } from "../../shared/contracts/nodelet.js";
import type { Context } from "../context.js";
import { EXIT, type ExitCode } from "../errors.js";
import { duration, moment, since } from "../output/amounts.js";
import { factLines } from "../output/facts.js";
import { print } from "../output/print.js";
import { cut, table, wrap } from "../output/table.js";
import { fullName, podsOf } from "../pods/find.js";
import { inOrder } from "../pods/order.js";
import { apiServerFails, isLate, problemsOf, threadState, type Problem } from "../problems.js";
import { withCni } from "../runtime/cni-places.js";
import type { SeenPod } from "../why/seen-pod.js";
import { seenPods } from "../why/seen-pods.js";

/** Broken pods whose cause is shown, so that the node stays on one screen. */
const EXPLAINED_PODS = 10;
/** Characters of a cause. */
const LONGEST = 300;

export async function statusCommand(context: Context): Promise<ExitCode> {
  const { client } = context;
  const [status, pods] = await Promise.all([client.json<NodeletStatus>("/nodelet/status"), podsOf(client)]);
  const [node, seen] = await Promise.all([withCni(status), seenPods(client, status, pods)]);
  const problems = problemsOf(node);
  const shown = [...seen.values()];
  const data = { ...status, problems, pods: shown.map(podRow) };
  await print(context, data, () => statusText(context, status, shown, problems));
  const isWell = problems.every(({ severity }) => severity !== "error") && shown.every((one) => one.explainedAsFine);
  return isWell ? EXIT.fine : EXIT.wrong;
}

function podRow({ pod, state, verdict, finding }: SeenPod): object {
  return omitUndefined({ name: fullName(pod), ...state, verdict, finding });
}

/** @internal */
export function statusText(
  { paint, columns }: Pick<Context, "paint" | "columns">,
  status: NodeletStatus,
  pods: readonly SeenPod[],
  problems: readonly Problem[],
): string {
  const { now, facts, apiServer, certificates } = status;
  const facts_: [string, string][] = [
    ["node", status.node],
    [
      "kubelet",
      `${status.kubernetesVersion}, pid ${status.pid}, Node ${status.nodeVersion}` +
        (facts === undefined ? "" : `, running ${since(facts.startedAt, now)}`),
    ],
    ["runtime", runtimeText(status)],
    ["API server", apiServer === undefined ? "none: the node runs stand-alone" : apiServerText(apiServer)],
    ...certificates.map(({ use, notAfter, problem }): [string, string] => [
      `${use} cert`,
      notAfter === undefined ? (problem ?? "?") : `expires in ${duration(notAfter - now)}, at ${moment(notAfter)}`,
    ]),
    ["pressures", facts === undefined ? "unknown" : facts.pressures.map(({ type }) => type).join(", ") || "none"],
    ...configurationRow(facts?.configuration),
    ["pods", podCounts(pods)],
  ];
  const head = factLines(facts_, columns, (name) => paint("bold", name));
  const threads = table(
    [
      { title: "THREAD", text: ({ name }) => name },
      {
        title: "STATE",
        text: (thread) => (isLate(thread) ? "late" : threadState(thread)),
        paint: (thread, text) => (isLate(thread) ? paint("red", text) : text),
      },
      { title: "LAST TICK", text: ({ lastTickMs }) => (lastTickMs === undefined ? "-" : `${lastTickMs} ms ago`) },
      { title: "STARTS", text: ({ starts }) => String(starts) },
      { title: "MAX DELAY", text: ({ loopDelayMaxMs }) => `${loopDelayMaxMs} ms` },
      { title: "QUEUED", text: ({ queued }) => String(queued) },
      {
        title: "OPERATION",
        text: ({ operation }) => (operation === undefined ? "-" : `${operation.name} (${operation.forMs} ms)`),
      },
    ],
    status.threads,
    columns,
  );
  return `${wrongText({ paint, columns }, status, pods, problems)}\n${head}\n${threads}`;
}

function configurationRow(facts: ConfigurationFacts | undefined): [string, string][] {
  if (facts === undefined) return [];
  const { assigned, active, lastKnownGood, onTrial } = facts;
  const state = onTrial ? ", on trial" : "";
  const good = `last known good: ${lastKnownGood ?? "none yet"}`;
  return [["configuration", `${active}${state} (assigned: ${assigned}; ${good})`]];
}

function runtimeText({ facts, runtimeEndpoint, now }: NodeletStatus): string {
  const runtime = facts?.runtime;
  if (runtime === undefined) return `${runtimeEndpoint}, not seen yet`;
  const state = !runtime.reachable
    ? "does not respond"
    : !runtime.runtimeReady
      ? "not ready"
      : runtime.networkReady
        ? "ready"
        : "no pod network";
  const at = facts?.runtimeSince === undefined ? "" : ` ${since(facts.runtimeSince, now)}`;
  const name = runtime.name === "" ? "" : `${runtime.name} ${runtime.version}, `;
  return `${name}${state}${at} (${runtimeEndpoint})`;
}

function apiServerText(facts: NonNullable<NodeletStatus["apiServer"]>): string {
  const { tookMs, problem } = facts;
  return problem === undefined ? `responds in ${tookMs ?? 0} ms` : `${apiServerFails(facts)}: ${problem}`;
}

function podCounts(pods: readonly SeenPod[]): string {
  if (pods.length === 0) return "none";
  const counts = new Map<string, number>();
  for (const { state } of pods) {
    const { word, fine } = state;
    const shown = word === "Running" && !fine ? "Running but not ready" : word;
    counts.set(shown, (counts.get(shown) ?? 0) + 1);
  }
  const states = [...counts].sort(([, a], [, b]) => b - a).map(([word, count]) => `${count} ${word}`);
  return `${pods.length}: ${states.join(", ")}`;
}

function wrongText(
  { paint, columns }: Pick<Context, "paint" | "columns">,
  { now }: NodeletStatus,
  pods: readonly SeenPod[],
  problems: readonly Problem[],
): string {
  const troubled = pods.filter(({ state }) => !state.fine);
  if (problems.length === 0 && troubled.length === 0) return `${paint("green", "nothing is wrong")}\n`;
  const errorsFirst = problems.toSorted((a, b) => Number(b.severity === "error") - Number(a.severity === "error"));
  const ofNode = errorsFirst.map(({ severity, what, since: at, help }) => {
    const mark = paint(severity === "error" ? "red" : "yellow", severity);
    const when = at === undefined ? "" : ` (${since(at, now)})`;
    return `${mark}: ${wrap(`${what}${when}`, columns, "  ").trimStart()}\n${wrap(`what to do: ${help}`, columns, "  ")}`;
  });
  const ofPods = inOrder(troubled).map(({ pod, state: { word, ready, containers }, finding }, index) => {
    const readiness = word === "Running" ? `, ${ready} of ${containers} containers ready` : "";
    const line = `${fullName(pod)} is ${word}${readiness}: nodelet why ${fullName(pod)}`;
    const head = `${paint("yellow", "pod")}: ${wrap(line, columns - "pod: ".length, "  ").trimStart()}`;
    if (finding === undefined || index >= EXPLAINED_PODS) return head;
    return `${head}\n${wrap(cut(`${finding.about}: ${finding.what}`, LONGEST), columns, "  ")}`;
  });
  return `${paint("bold", "problems")}\n${[...ofNode, ...ofPods].join("\n")}\n`;
}
