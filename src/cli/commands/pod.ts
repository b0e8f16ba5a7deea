// nodelet pod: one pod with its containers, volumes and addresses.

import type { NodeletStatus, PodFacts } from "../../shared/contracts/nodelet.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import type { Context } from "../context.js";
import { EXIT, type ExitCode } from "../errors.js";
import { duration, moment } from "../output/amounts.js";
import { factLines, type Fact } from "../output/facts.js";
import { print } from "../output/print.js";
import { table } from "../output/table.js";
import { findPod, fullName, podsOf } from "../pods/find.js";
import { ofMain } from "../pods/of-main.js";
import { podPath } from "../pods/pod-paths.js";
import { startsOf, statusStart, type StartOf } from "../pods/starts.js";
import { podState, type PodState } from "../pods/state.js";
import { containersOf, type ContainerView } from "../why/input.js";
import { seenPods, stateIn } from "../why/seen-pods.js";

export async function podCommand(context: Context, named: string, namespace?: string): Promise<ExitCode> {
  const { client, clock } = context;
  const [node, pods] = await Promise.all([client.json<NodeletStatus>("/nodelet/status"), podsOf(client)]);
  const pod = findPod(pods, named, namespace);
  const [facts, startOf, seen] = await Promise.all([
    ofMain(() => client.find<PodFacts>(`/nodelet/pods/${podPath(pod)}`)),
    startsOf(client),
    seenPods(client, node, pods),
  ]);
  const state = stateIn(seen)(pod);
  await print(context, { pod, facts }, () => podText(context, pod, facts, clock.now(), startOf, state));
  return seen.get(pod.metadata.uid)?.explainedAsFine === true ? EXIT.fine : EXIT.wrong;
}

/** @internal */
export function podText(
  { columns }: Pick<Context, "columns">,
  pod: Pod,
  facts: PodFacts | undefined,
  now: number,
  startOf: StartOf = statusStart,
  state: PodState = podState(pod),
): string {
  const { status, metadata } = pod;
  const started = startOf(pod);
  const lines: Fact[] = [
    ["pod", fullName(pod)],
    ["uid", metadata.uid],
    ["state", `${state.word}, ${state.ready} of ${state.containers} containers ready`],
    ["pod worker", facts?.worker ?? "none"],
    ["address", (status?.podIPs ?? []).map(({ ip }) => ip).join(", ") || "none"],
    ["QoS class", status?.qosClass ?? "?"],
    ["started", started === undefined ? "not yet" : `${moment(started)}, ${duration(now - started)} ago`],
    ...(status?.conditions ?? []).map(({ type, status: value, reason }): Fact => [
      type,
      reason === undefined ? value : `${value} (${reason})`,
    ]),
  ];
  const containers = table(
    [
      { title: "CONTAINER", text: ({ container }) => container.name },
      { title: "KIND", text: ({ kind }) => kind.replace(/ ?container$/, "") || "app" },
      { title: "STATE", text: stateOf },
      { title: "READY", text: ({ status: one }) => (one?.ready === true ? "yes" : "no") },
      { title: "RESTARTS", text: ({ status: one }) => String(one?.restartCount ?? 0) },
      { title: "IMAGE", text: ({ container }) => container.image ?? "" },
    ],
    containersOf(pod),
    columns,
  );
  const volumes = table(
    [
      { title: "VOLUME", text: ({ name }) => name },
      { title: "PLUGIN", text: ({ plugin }) => plugin },
      { title: "STATE", text: ({ mounted, lastError }) => (mounted ? "set up" : (lastError ?? "not set up yet")) },
    ],
    facts?.volumes ?? [],
    columns,
  );
  return `${factLines(lines, columns)}\n${containers}${(facts?.volumes.length ?? 0) > 0 ? `\n${volumes}` : ""}`;
}

function stateOf({ status }: ContainerView): string {
  const { waiting, running, terminated } = status?.state ?? {};
  if (running !== undefined) return "running";
  if (terminated !== undefined)
    return `exited ${terminated.exitCode}${terminated.reason === undefined ? "" : ` (${terminated.reason})`}`;
  return waiting?.reason ?? "waiting";
}
