// One pod: the verdict with its findings, containers, the steps of its start, its decisions. The rules are those of
// `nodelet why`. Pure.

import { duration, moment, since, timeOf, until } from "../../cli/output/amounts.js";
import { containerState, podTone, type Tone } from "../../cli/pods/tone.js";
import type { Decision } from "../../cli/why/decisions.js";
import { explain } from "../../cli/why/explain.js";
import { containersOf, type ContainerView, type Finding } from "../../cli/why/input.js";
import { seenPod } from "../../cli/why/seen-pod.js";
import type { NodeletStatus, PodFacts } from "../../shared/contracts/nodelet.js";
import type { PodDetails, PodUsage } from "../../shared/contracts/status-page.js";
import type { PodTimeline } from "../../shared/contracts/timeline.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import { h, type VNode } from "../dom/vnode.js";
import type { PodSample } from "../usage-history.js";
import { conditionsTable } from "./conditions.js";
import { containerCharts } from "./container-charts.js";
import { eventsTable } from "./events.js";
import { addresses, age, badge, breakable, facts as pairs, note, section } from "./parts.js";
import { definitionView, volumesView } from "./pod-details.js";
import { table } from "./table.js";
import { timelineView } from "./timeline.js";
import { containerLimit, cpuCell, memoryCell, podLimit } from "./usage.js";

export interface PodView {
  pod: Pod;
  pods: readonly Pod[];
  node: NodeletStatus;
  /** undefined: not read yet, or main does not respond. */
  facts: PodFacts | undefined;
  timeline: PodTimeline | undefined;
  details: PodDetails | undefined;
  usage: PodUsage | undefined;
  /** Since when it is on this node; without it its status counts, which begins anew with the kubelet. */
  startedAt: number | undefined;
  /** What its containers used since the page was opened. */
  history: readonly PodSample[];
  now: number;
  /** As those of TimeView. */
  pointed: number | undefined;
  onPoint: (at: number | undefined) => void;
  /** Address of the list, with the reader's filter. */
  listLink: string;
  /** Shows logs; its maker fills it. */
  logs: (containers: readonly ContainerView[]) => VNode;
}

export function podView(view: PodView): VNode[] {
  const { pod, pods, node, facts, timeline, details, usage, history, now, listLink, logs } = view;
  const { startedAt = timeOf(pod.status?.startTime) } = view;
  const events = timeline?.events ?? [];
  const known = { pod, pods, facts, events, node, now };
  const explained = explain(known, timeline);
  const { metadata, status } = pod;
  const containers = containersOf(pod);
  return [
    h(
      "section",
      { key: "head", "aria-label": "Pod" },
      h("p", { class: "back" }, h("a", { href: listLink }, "All pods")),
      h("h2", {}, metadata.name),
      h("p", { class: "verdict", role: "status" }, badge(podTone(pod, seenPod(known).state), explained.verdict)),
      h(
        "ul",
        { class: "findings" },
        explained.findings.map((finding, index) => findingView(finding, index, now)),
      ),
      pairs([
        ["Namespace", metadata.namespace],
        ["Addresses", addresses((status?.podIPs ?? []).map(({ ip }) => ip))],
        ["Age", age(startedAt, now)],
        ["CPU", cpuCell(usage?.cpu, podLimit(pod, "cpu"))],
        ["Memory", memoryCell(usage?.memory, podLimit(pod, "memory"))],
        ["QoS class", status?.qosClass ?? "?"],
        ["Pod worker", facts?.worker ?? "none"],
        ["UID", h("span", { class: "code" }, metadata.uid)],
      ]),
    ),
    section("Containers", containersTable(containers, usage)),
    section("Usage", ...containerCharts(containers, history, view)),
    section("Log", logs(containers)),
    section("Start", timeline === undefined ? note("Not known yet.") : timelineView(timeline, now)),
    section("Decisions", decisionsView(explained.decisions)),
    section("Events", eventsTable("Events about the pod", timeline?.events, now)),
    section("Conditions", conditionsTable("Conditions of the pod", status?.conditions ?? [], now)),
    ...volumesView(facts, details),
    definitionView(pod, details),
  ];
}

/** Commands in the help of a finding are shown as code. */
function findingView(
  { severity, about, what, since: at, nextTryAt, evidence = [], help }: Finding,
  index: number,
  now: number,
): VNode {
  const tone: Tone = severity === "error" ? "bad" : severity === "warning" ? "warn" : "plain";
  return h(
    "li",
    { key: `${about} ${index}`, class: `finding ${tone}` },
    h("p", {}, h("strong", {}, about), ": ", what),
    at !== undefined && h("p", { class: "muted" }, since(at, now)),
    nextTryAt !== undefined &&
      h("p", { class: "muted" }, `The kubelet tries again ${until(nextTryAt, now)} (${moment(nextTryAt)}).`),
    ...evidence.map(({ title, lines }) =>
      h("div", {}, h("p", { class: "muted" }, `${title}:`), h("pre", {}, lines.join("\n"))),
    ),
    help.length > 0 &&
      h(
        "ul",
        { class: "help" },
        help.map((text) => h("li", {}, text)),
      ),
  );
}

function containersTable(containers: readonly ContainerView[], usage: PodUsage | undefined): VNode {
  const used = new Map(usage?.containers.map((one) => [one.name, one]));
  return table<ContainerView>({
    caption: "Containers of the pod",
    columns: [
      { title: "Name", cell: ({ container }) => container.name },
      { title: "Kind", class: "wide", cell: ({ kind }) => kind.replace(/ ?container$/, "") || "app" },
      {
        title: "State",
        class: "state",
        cell: ({ status }) => {
          const { word, tone } = containerState(status);
          return badge(tone, word);
        },
      },
      { title: "Ready", class: "wide", cell: ({ status }) => (status?.ready === true ? "yes" : "no") },
      { title: "Restarts", number: true, cell: ({ status }) => status?.restartCount ?? 0 },
      {
        title: "CPU",
        number: true,
        cell: ({ container }) => cpuCell(used.get(container.name)?.cpu, containerLimit(container, "cpu")),
      },
      {
        title: "Memory",
        number: true,
        cell: ({ container }) => memoryCell(used.get(container.name)?.memory, containerLimit(container, "memory")),
      },
      { title: "Image", class: "code", cell: ({ container }) => breakable(container.image ?? "") },
    ],
    rows: containers,
    keyOf: ({ kind, container }) => `${kind} ${container.name}`,
    empty: "The pod has no containers.",
  });
}

function decisionsView(decisions: readonly Decision[]): VNode {
  const [first] = decisions;
  if (first === undefined) return note("None yet.");
  const after = (at: number): string => `+${duration(at - first.at)}`;
  return h(
    "ol",
    { class: "decisions", role: "log", "aria-label": "Decisions, oldest first", tabindex: "0" },
    decisions.map(({ at, what, count, lastAt }) =>
      h(
        "li",
        {},
        h("time", { datetime: new Date(at).toISOString(), title: moment(at) }, after(at)),
        h(
          "span",
          {},
          what,
          count !== undefined &&
            h("span", { class: "muted" }, ` (${count} times${lastAt === undefined ? "" : `, last ${after(lastAt)}`})`),
        ),
      ),
    ),
  );
}
