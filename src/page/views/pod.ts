// One pod: the verdict with its findings, containers, the steps of its start, its decisions. The rules are those of `nodelet why`. Pure.
import { duration, moment, since, until } from "../../cli/output/amounts.js";
import { explain, type Explanation } from "../../cli/why/explain.js";
import { containersOf, type ContainerView, type Finding } from "../../cli/why/input.js";
import type { Pod } from "../../shared/api/pod.js";
import type { NodeletStatus, PodFacts } from "../../shared/contracts/nodelet.js";
import type { PodTimeline } from "../../shared/contracts/timeline.js";
import { h, type VNode } from "../dom/vnode.js";
import { logSources, type LogSource } from "../log-sources.js";
import { badge, facts as pairs, section, table, type Tone } from "./parts.js";
import { toneOf } from "./pods.js";
import { timelineView } from "./timeline.js";

export interface PodView {
  pod: Pod;
  pods: readonly Pod[];
  node: NodeletStatus;
  /** undefined: not read yet, or main does not respond. */
  facts: PodFacts | undefined;
  timeline: PodTimeline | undefined;
  now: number;
  /** Shows logs; its maker fills it. */
  logs: (containers: readonly LogSource[]) => VNode;
}

export function podView({ pod, pods, node, facts, timeline, now, logs }: PodView): VNode[] {
  const events = timeline?.events ?? [];
  const explained = explain({ pod, pods, facts, events, node, now }, timeline);
  const { metadata, status } = pod;
  const containers = containersOf(pod);
  return [
    h(
      "section",
      { key: "head", "aria-label": "Pod" },
      h("p", { class: "back" }, h("a", { href: "#/pods" }, "All pods")),
      h("h2", {}, metadata.name),
      h("p", { class: "verdict", role: "status" }, badge(toneOf(pod), explained.verdict)),
      h(
        "ul",
        { class: "findings" },
        explained.findings.map((finding, index) => findingView(finding, index, now)),
      ),
      pairs([
        ["Namespace", metadata.namespace],
        ["Address", (status?.podIPs ?? []).map(({ ip }) => ip).join(", ") || "none"],
        ["QoS class", status?.qosClass ?? "?"],
        ["Pod worker", facts?.worker ?? "none"],
        ["UID", h("span", { class: "code" }, metadata.uid)],
      ]),
    ),
    section("Containers", containersTable(containers)),
    ...(facts === undefined || facts.volumes.length === 0 ? [] : [section("Volumes", volumesTable(facts))]),
    section(
      "Start",
      timeline === undefined ? h("p", { class: "muted" }, "Not known yet.") : timelineView(timeline, now),
    ),
    section("Decisions", decisionsView(explained)),
    section("Log", logs(logSources(containers))),
  ];
}

/** Commands in the help of a finding are shown as code. */
function findingView(
  { severity, about, what, since: at, nextTryAt, help }: Finding,
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
    help.length > 0 &&
      h(
        "ul",
        { class: "help" },
        help.map((text) => h("li", {}, text)),
      ),
  );
}

function containersTable(containers: readonly ContainerView[]): VNode {
  return table({
    caption: "Containers of the pod",
    columns: [
      { title: "Name", cell: ({ container }) => container.name },
      { title: "Kind", cell: ({ kind }) => kind.replace(/ ?container$/, "") || "app" },
      { title: "State", cell: (view) => badge(containerTone(view), stateOf(view)) },
      { title: "Ready", cell: ({ status }) => (status?.ready === true ? "yes" : "no") },
      { title: "Restarts", number: true, cell: ({ status }) => status?.restartCount ?? 0 },
      { title: "Image", class: "code", cell: ({ container }) => container.image ?? "" },
    ],
    rows: containers,
    keyOf: ({ kind, container }) => `${kind} ${container.name}`,
    empty: "The pod has no containers.",
  });
}

function volumesTable({ volumes }: PodFacts): VNode {
  return table({
    caption: "Volumes of the pod",
    columns: [
      { title: "Name", cell: ({ name }) => name },
      { title: "Plugin", class: "code", cell: ({ plugin }) => plugin },
      {
        title: "State",
        cell: ({ mounted, lastError }) =>
          mounted
            ? badge("good", "set up")
            : badge(lastError === undefined ? "warn" : "bad", lastError ?? "not set up yet"),
      },
    ],
    rows: volumes,
    keyOf: ({ name }) => name,
    empty: "",
  });
}

function stateOf({ status }: ContainerView): string {
  const { waiting, running, terminated } = status?.state ?? {};
  if (running !== undefined) return "running";
  if (terminated === undefined) return waiting?.reason ?? "waiting";
  return `exited ${terminated.exitCode}${terminated.reason === undefined ? "" : ` (${terminated.reason})`}`;
}

function containerTone({ status }: ContainerView): Tone {
  const { running, terminated } = status?.state ?? {};
  if (running !== undefined) return status?.ready === true || status?.started === true ? "good" : "warn";
  if (terminated !== undefined) return terminated.exitCode === 0 ? "plain" : "bad";
  return "warn";
}

function decisionsView({ decisions }: Explanation): VNode {
  const [first] = decisions;
  if (first === undefined) return h("p", { class: "muted" }, "None yet.");
  return h(
    "ol",
    { class: "decisions", role: "log", "aria-label": "Decisions, oldest first", tabindex: "0" },
    decisions.map(({ at, what, count }) =>
      h(
        "li",
        {},
        h("time", { datetime: new Date(at).toISOString(), title: moment(at) }, `+${duration(at - first.at)}`),
        h("span", {}, count === undefined ? what : `${what} (${count} times)`),
      ),
    ),
  );
}
