// The list of pods with their live state. Pure.
import { timeOf } from "../../cli/output/amounts.js";
import { podState } from "../../cli/pods/state.js";
import type { Pod } from "../../shared/api/pod.js";
import { onInput } from "../dom/handlers.js";
import { h, type VNode } from "../dom/vnode.js";
import { podLink } from "../place.js";
import { age, badge, section, table, type Tone } from "./parts.js";

export interface PodsView {
  pods: readonly Pod[];
  /** Only pods whose namespace, name or state contains it. */
  filter: string;
  onFilter: (text: string) => void;
  now: number;
}

export function toneOf(pod: Pod): Tone {
  const { word, fine } = podState(pod);
  if (fine) return "good";
  return /^(Pending|ContainerCreating|PodInitializing|Terminating|Init:\d)/.test(word) ? "warn" : "bad";
}

export function podsView({ pods, filter, onFilter, now }: PodsView): VNode {
  const word = filter.trim().toLowerCase();
  const rows = pods
    .filter((pod) => searched(pod).includes(word))
    .toSorted(
      (a, b) => compare(a.metadata.namespace, b.metadata.namespace) || compare(a.metadata.name, b.metadata.name),
    );
  return section(
    "Pods",
    h(
      "p",
      { class: "tools" },
      h(
        "label",
        {},
        "Filter ",
        h("input", {
          type: "search",
          value: filter,
          placeholder: "name, namespace or state",
          on: { input: onInput(onFilter) },
        }),
      ),
      h("span", { class: "muted" }, `${rows.length} of ${pods.length}`),
    ),
    table({
      caption: "Pods of this node",
      columns: [
        {
          title: "Name",
          cell: ({ metadata }) => h("a", { href: podLink(metadata.namespace, metadata.name) }, metadata.name),
        },
        { title: "Namespace", cell: ({ metadata }) => metadata.namespace },
        { title: "State", cell: (pod) => badge(toneOf(pod), podState(pod).word) },
        { title: "Ready", number: true, cell: (pod) => `${podState(pod).ready}/${podState(pod).containers}` },
        { title: "Restarts", number: true, cell: (pod) => podState(pod).restarts },
        { title: "Age", number: true, cell: ({ status }) => age(timeOf(status?.startTime), now) },
        { title: "Address", class: "code", cell: ({ status }) => status?.podIP ?? "–" },
      ],
      rows,
      keyOf: ({ metadata }) => metadata.uid,
      empty: pods.length === 0 ? "This node has no pods." : "No pod matches the filter.",
    }),
  );
}

function searched(pod: Pod): string {
  return `${pod.metadata.namespace}/${pod.metadata.name} ${podState(pod).word}`.toLowerCase();
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
