// The node: usage, runtime, API server, certificates, pressures, threads and their queues. Pure.
import { isLate } from "../../cli/problems.js";
import { duration, moment, since } from "../../cli/output/amounts.js";
import type { NodeletStatus, ThreadFacts } from "../../shared/contracts/nodelet.js";
import type { MachineSize, UsageSample } from "../../shared/contracts/status-page.js";
import { h, type Child, type VNode } from "../dom/vnode.js";
import { chartsView } from "./charts.js";
import { badge, facts as pairs, section, table } from "./parts.js";

export interface NodeView {
  status: NodeletStatus | undefined;
  threads: readonly ThreadFacts[];
  samples: readonly UsageSample[];
  machine: MachineSize | undefined;
  now: number;
}

export function nodeView({ status, threads, samples, machine, now }: NodeView): VNode[] {
  return [
    section("Usage of the last hour", chartsView(samples, machine, now)),
    section("Node", status === undefined ? h("p", { class: "muted" }, "Not known yet.") : factsView(status, now)),
    section("Threads", threadsTable(threads)),
  ];
}

function factsView(status: NodeletStatus, now: number): VNode {
  const { node, kubernetesVersion, nodeVersion, pid, certificates, apiServer, facts, runtimeEndpoint } = status;
  return pairs([
    ["Name", node],
    ["Kubelet", `${kubernetesVersion}, Node.js ${nodeVersion}, process ${pid}`],
    [
      "Started",
      facts === undefined ? "unknown" : `${duration(now - facts.startedAt)} ago, at ${moment(facts.startedAt)}`,
    ],
    ["Runtime", runtimeView(status, now)],
    ["Endpoint", h("span", { class: "code" }, runtimeEndpoint)],
    [
      "API server",
      apiServer === undefined
        ? "none: the node runs stand-alone"
        : apiServer.problem === undefined
          ? badge("good", `responds in ${apiServer.tookMs ?? 0} ms`)
          : badge("bad", `does not respond: ${apiServer.problem}`),
    ],
    ...certificates.map(({ use, notAfter, problem }): [string, Child] => [
      `${use === "serving" ? "Serving" : "Client"} certificate`,
      notAfter === undefined ? badge("warn", problem ?? "unknown") : certificateView(notAfter, now),
    ]),
    [
      "Pressures",
      facts === undefined
        ? "unknown"
        : facts.pressures.length === 0
          ? badge("good", "none")
          : facts.pressures.map(({ type, since: at }) => badge("bad", `${type} ${since(at, now)}`)),
    ],
  ]);
}

function certificateView(notAfter: number, now: number): VNode {
  return notAfter <= now
    ? badge("bad", `expired at ${moment(notAfter)}`)
    : badge("good", `expires in ${duration(notAfter - now)}, at ${moment(notAfter)}`);
}

function runtimeView({ facts, runtimeEndpoint }: NodeletStatus, now: number): Child {
  const runtime = facts?.runtime;
  if (runtime === undefined) return `${runtimeEndpoint}, not seen yet`;
  const name = `${runtime.name} ${runtime.version}`.trim();
  const at = facts?.runtimeSince === undefined ? "" : ` ${since(facts.runtimeSince, now)}`;
  if (!runtime.reachable) return badge("bad", `${name} does not respond${at}`);
  if (!runtime.runtimeReady) return badge("bad", `${name} is not ready${at}`);
  return runtime.networkReady ? badge("good", `${name}, ready${at}`) : badge("bad", `${name} has no pod network${at}`);
}

function threadsTable(threads: readonly ThreadFacts[]): VNode {
  return table({
    caption: "Threads of the kubelet",
    columns: [
      { title: "Thread", cell: ({ name }) => name },
      {
        title: "State",
        cell: (thread) =>
          isLate(thread)
            ? badge("bad", "late")
            : thread.lastTickMs === undefined
              ? badge("plain", "not needed")
              : badge(thread.state === "running" ? "good" : "warn", thread.state),
      },
      {
        title: "Last tick",
        number: true,
        cell: ({ lastTickMs }) => (lastTickMs === undefined ? "–" : `${lastTickMs} ms ago`),
      },
      { title: "Max. delay", number: true, cell: ({ loopDelayMaxMs }) => `${loopDelayMaxMs} ms` },
      { title: "Queued", number: true, cell: ({ queued }) => queued },
      { title: "Starts", number: true, cell: ({ starts }) => starts },
      {
        title: "Operation",
        cell: ({ operation }) => (operation === undefined ? "–" : `${operation.name} (${duration(operation.forMs)})`),
      },
    ],
    rows: threads,
    keyOf: ({ name }) => name,
    empty: "Not known yet.",
  });
}
