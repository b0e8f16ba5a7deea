// The top of the page: the node, the age of the data, the views, and what is wrong. Pure.

import { duration, moment, since } from "../../cli/output/amounts.js";
import { problemsOf } from "../../cli/problems.js";
import type { ShownPod } from "../../cli/why/seen-pod.js";
import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import type { NodeletStatus } from "../../shared/contracts/nodelet.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import { h, type VNode } from "../dom/vnode.js";
import type { Freshness } from "../freshness.js";
import { podLink, type Place } from "../place.js";
import { badge, compare, cut } from "./parts.js";

export const TITLES: Readonly<Record<Place["view"], string>> = {
  pods: "Pods",
  pod: "Pod",
  node: "Node",
  images: "Images",
  config: "Configuration",
};

/** Characters of one problem. */
const LONGEST = 600;

export interface Head {
  place: Place;
  status: NodeletStatus | undefined;
  pods: readonly ShownPod[];
  freshness: Freshness;
  /** Moment of the shown data, by the kubelet's clock. */
  now: number;
  /** How long the kubelet has been silent, ms. */
  silentMs: number;
}

export function headView(head: Head): VNode[] {
  const { place, status, freshness } = head;
  const link = (view: "pods" | "node" | "images" | "config"): VNode => {
    const current = place.view === view || (view === "pods" && place.view === "pod");
    return h("a", omitUndefined({ href: `#/${view}`, "aria-current": current ? "page" : undefined }), TITLES[view]);
  };
  const runtime = status?.facts?.runtime;
  const about =
    status === undefined
      ? ""
      : `kubelet ${status.kubernetesVersion}${runtime === undefined ? "" : ` · ${runtime.name} ${runtime.version}`}`;
  return [
    h(
      "div",
      { class: "title" },
      h("h1", {}, status?.node ?? "nodelet"),
      h("span", { class: "muted" }, about),
      h("span", { class: "connection", role: "status" }, connectionBadge(freshness)),
    ),
    h("nav", { "aria-label": "Views" }, link("pods"), link("node"), link("images"), link("config")),
    ...staleNote(head),
    ...problems(head),
  ];
}

/** Pods that are not well by the rules of `nodelet why`. */
export function troubledPods(pods: readonly ShownPod[]): Pod[] {
  return pods.flatMap(({ pod, state }) => (state.fine ? [] : [pod]));
}

function connectionBadge({ state, stale }: Freshness): VNode {
  if (state === "lost") return badge("bad", "no connection, trying again");
  if (state === "silent") return badge("bad", "no data");
  if (state === "connecting") return badge("warn", "connecting");
  return stale ? badge("bad", "old data") : badge("good", "live");
}

function staleNote({ freshness, now, silentMs }: Head): VNode[] {
  if (!freshness.stale) return [];
  return [
    h(
      "p",
      { class: "finding bad stale-note", key: "stale" },
      h("strong", {}, `No data for ${duration(silentMs)}`),
      `: the kubelet is stopped, or the connection is broken. The page shows the node as it was at ${moment(now)}.`,
    ),
  ];
}

function problems({ status, pods, now, freshness: { stale } }: Head): VNode[] {
  if (status === undefined) return [];
  const ofNode = problemsOf(status).map(({ severity, what, since: at, help }) =>
    h(
      "p",
      { class: `finding ${severity === "error" ? "bad" : "warn"}` },
      h("strong", {}, severity),
      `: ${cut(what, LONGEST)}${at === undefined ? "" : ` (${since(at, now)})`}. `,
      h("span", { class: "muted" }, help),
    ),
  );
  const troubled = troubledPods(pods);
  const have = troubled.length === 1 ? "has a problem" : "have problems";
  const ofPods =
    troubled.length === 0
      ? []
      : [
          h(
            "p",
            { class: "finding warn" },
            h("a", { href: "#/pods" }, `${troubled.length} of ${pods.length} pods ${have}`),
            ": ",
            podLinks(troubled.map(({ metadata }) => metadata)),
          ),
        ];
  const all = [...ofNode, ...ofPods];
  return [
    // Durations change every second: a screen reader hears the numbers of problems only, when they change.
    h("p", { class: "hidden", role: "status" }, `Problems: ${ofNode.length} of the node, ${troubled.length} of pods`),
    h(
      "div",
      { class: "problems", role: "region", "aria-label": "Problems" },
      all.length > 0
        ? all
        : [h("p", { class: "muted" }, stale ? "nothing was wrong then" : badge("good", "nothing is wrong"))],
    ),
  ];
}

/** Names shown of a long list. */
const SHOWN = 3;

/** "web, shop, db and 12 more", as links. */
export function podLinks(pods: readonly { namespace: string; name: string }[]): VNode {
  const sorted = pods.toSorted((a, b) => compare(a.namespace, b.namespace) || compare(a.name, b.name));
  const more = sorted.length - SHOWN;
  return h(
    "span",
    { class: "names" },
    sorted
      .slice(0, SHOWN)
      .flatMap(({ namespace, name }, index) => [
        index > 0 && ", ",
        h("a", { href: podLink(namespace, name) }, namespace === "default" ? name : `${namespace}/${name}`),
      ]),
    more > 0 && ` and ${more} more`,
  );
}
