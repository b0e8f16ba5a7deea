// The node: usage, machine, runtime, API server, certificates, resources, conditions, events, threads and their queues.
// Pure.

import { duration, moment, since } from "../../cli/output/amounts.js";
import { apiServerFails, isLate, threadState } from "../../cli/problems.js";
import type { NodeletStatus, ThreadFacts } from "../../shared/contracts/nodelet.js";
import type { HostFacts } from "../../shared/contracts/status-page.js";
import type { Event } from "../../shared/kubernetes/api/event.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import { h, type Child, type VNode } from "../dom/vnode.js";
import { chartsView, type ChartsView } from "./charts.js";
import { conditionsTable } from "./conditions.js";
import { eventsTable } from "./events.js";
import { nodeConditions, resourcesTable } from "./node-resources.js";
import { addresses, badge, breakable, facts as pairs, note, section } from "./parts.js";
import { table } from "./table.js";

export interface NodeView {
  status: NodeletStatus | undefined;
  threads: readonly ThreadFacts[];
  charts: ChartsView;
  pods: readonly Pod[];
  /** undefined: not read yet. */
  host: HostFacts | undefined;
  events: readonly Event[] | undefined;
  now: number;
}

export function nodeView({ status, threads, charts, pods, host, events, now }: NodeView): VNode[] {
  const facts = status?.facts;
  return [
    section("Usage of the last hour", chartsView(charts)),
    section("Node", status === undefined ? note("Not known yet.") : factsView(status, host, now)),
    section("Resources", facts === undefined ? note("Not known yet.") : resourcesTable(facts, pods)),
    section(
      "Conditions",
      facts === undefined
        ? note("Not known yet.")
        : conditionsTable("Conditions of the node", nodeConditions(facts), now),
    ),
    section("Events", eventsTable("Events about the node", events, now)),
    section("Threads", threadsTable(threads)),
  ];
}

function factsView(status: NodeletStatus, host: HostFacts | undefined, now: number): VNode {
  const { node, kubernetesVersion, nodeVersion, pid, certificates, apiServer, facts, runtimeEndpoint } = status;
  return pairs([
    ["Name", node],
    ["Addresses", addresses(facts?.addresses ?? [])],
    ["Operating system", host?.osImage ?? "–"],
    ["Kernel", host === undefined ? "–" : `${host.kernel}, ${host.platform}`],
    ["Machine started", host === undefined ? "–" : `${duration(now - host.bootedAt)} ago, at ${moment(host.bootedAt)}`],
    ["Load", host === undefined ? "–" : `${host.load.join(", ")} (1, 5 and 15 minutes)`],
    ["Kubelet", `${kubernetesVersion}, Node.js ${nodeVersion}, process ${pid}`],
    [
      "Started",
      facts === undefined ? "unknown" : `${duration(now - facts.startedAt)} ago, at ${moment(facts.startedAt)}`,
    ],
    ["Runtime", runtimeView(status, now)],
    ["Endpoint", h("span", { class: "code" }, breakable(runtimeEndpoint))],
    ["Images", h("a", { href: "#/images" }, "images of the runtime")],
    [
      "API server",
      apiServer === undefined
        ? "none: the node runs stand-alone"
        : apiServer.problem === undefined
          ? badge("good", `responds in ${apiServer.tookMs ?? 0} ms`)
          : badge("bad", `${apiServerFails(apiServer)}: ${apiServer.problem}`),
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
              ? badge("plain", threadState(thread))
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
