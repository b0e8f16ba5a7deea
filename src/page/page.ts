// The status page: puts streams, place and views together, and draws at most once per frame.
// Invariant: while the page is not visible it holds no stream.

import type { Configz } from "../cli/config-lines.js";
import { podState } from "../cli/pods/state.js";
import { seenPod, type ShownPod } from "../cli/why/seen-pod.js";
import type { NodeletImages, NodeletStatus, PodFacts, ThreadFacts } from "../shared/contracts/nodelet.js";
import {
  FACTS_KEY,
  POD_KEY,
  SAMPLE_KEY,
  USAGE_KEY,
  type HostFacts,
  type MachineSize,
  type PodDetails,
  type PodUsage,
  type UsageSample,
} from "../shared/contracts/status-page.js";
import type { PodTimeline } from "../shared/contracts/timeline.js";
import type { Event } from "../shared/kubernetes/api/event.js";
import type { Pod } from "../shared/kubernetes/api/pod.js";
import { patch } from "./dom/patch.js";
import { h, type VNode } from "./dom/vnode.js";
import { freshnessOf, type Freshness } from "./freshness.js";
import { LogPanel } from "./log-panel.js";
import { logSources } from "./log-sources.js";
import { optionsOf, placeOf, podLink, withOptions, type Options, type Place } from "./place.js";
import { Replica } from "./replica.js";
import { followShortcuts } from "./shortcuts.js";
import { UsageHistory } from "./usage-history.js";
import { configView } from "./views/config.js";
import { headView, TITLES, troubledPods } from "./views/head.js";
import { imagesView } from "./views/images.js";
import { manifestsView } from "./views/manifests.js";
import { nodeView } from "./views/node.js";
import { note } from "./views/parts.js";
import { podRow } from "./views/pod-rows.js";
import { podView } from "./views/pod.js";
import { podsView } from "./views/pods.js";
import type { Sorting } from "./views/table.js";

/** Ages grow, and silence is noticed. */
const TICK_MS = 1000;

/** Connections of a place beyond the stream of the node. */
interface Opened {
  fragment: string;
  stream?: Replica;
  log?: LogPanel;
}

export class Page {
  private readonly node = new Replica("stream/node", () => this.changed());
  private readonly history = new UsageHistory();
  private opened: Opened = { fragment: "none" };
  private configz: Configz | undefined;
  private configProblem: string | undefined;
  /** The last address of the list of pods, with its filter. */
  private listLink = "#/pods";
  /** The moment of the charts under the pointer. */
  private pointed: number | undefined;
  /** The kubelet's clock minus this machine's, ms. */
  private ahead = 0;
  private statusSeen: NodeletStatus | undefined;
  private drawing = false;

  constructor(
    private readonly header: Element,
    private readonly main: Element,
  ) {}

  start(): void {
    window.addEventListener("hashchange", () => {
      this.changed();
      // Readers of the screen continue with the new content.
      this.main.scrollTo(0, 0);
      (this.main as HTMLElement).focus();
    });
    document.addEventListener("visibilitychange", () => this.changed());
    setInterval(() => {
      if (document.visibilityState === "visible") this.changed();
    }, TICK_MS);
    followShortcuts();
    this.changed();
  }

  private readonly onFilter = (filter: string): void => this.choose({ filter });

  private readonly onChangedOnly = (): void => this.choose({ changed: !optionsOf(location.hash).changed });

  private readonly onSort = (sort: string): void => this.choose({ sort });

  private readonly onPoint = (at: number | undefined): void => {
    this.pointed = at;
    this.changed();
  };

  /** Puts the choice into the address. It makes no entry in the history. */
  private choose(choice: Partial<Options>): void {
    const fragment = withOptions(location.hash, { ...optionsOf(location.hash), ...choice });
    history.replaceState(null, "", fragment);
    this.changed();
  }

  private changed(): void {
    this.followVisibility();
    if (this.drawing) return;
    this.drawing = true;
    requestAnimationFrame(() => {
      this.drawing = false;
      this.draw();
    });
  }

  private followVisibility(): void {
    if (document.visibilityState === "hidden") {
      this.node.close();
      this.opened.stream?.close();
    } else {
      this.node.open();
      this.opened.stream?.open();
    }
  }

  private draw(): void {
    const place = placeOf(location.hash);
    this.enter(place);
    if (place.view === "pods") this.listLink = location.hash || "#/pods";
    const status = this.node.get("status") as NodeletStatus | undefined;
    if (status !== undefined && status !== this.statusSeen) {
      this.statusSeen = status;
      this.ahead = status.now - Date.now();
    }
    const pods = this.node.withPrefix(POD_KEY) as Pod[];
    const { stream } = this.opened;
    const freshness = freshnessOf(stream === undefined ? [this.node] : [this.node, stream], Date.now());
    const now = this.now(freshness);
    const silentMs = Date.now() - (freshness.heardAt ?? Date.now());
    const seen = pods.map((pod) => this.shown(pod, pods, status, now));
    const isLive = freshness.state === "live" && !freshness.stale;
    if (isLive)
      this.history.take(
        now,
        pods.map((pod) => [pod.metadata.uid, this.usageOf(pod)] as const),
      );
    document.title = this.title(place, status, seen, freshness);
    document.body.classList.toggle("stale", freshness.stale);
    patch(this.header, headView({ place, status, pods: seen, freshness, now, silentMs }));
    patch(this.main, this.content(place, status, seen, now));
  }

  /** Ages stop with the data. */
  private now({ state, stale, heardAt }: Freshness): number {
    const old = heardAt !== undefined && (stale || state === "lost");
    return (old ? heardAt : Date.now()) + this.ahead;
  }

  /** The list has no events: the state of a pod does not need them. */
  private shown(pod: Pod, pods: readonly Pod[], node: NodeletStatus | undefined, now: number): ShownPod {
    if (node === undefined) return { pod, state: podState(pod) };
    const facts = this.node.get(`${FACTS_KEY}${pod.metadata.uid}`) as PodFacts | undefined;
    return seenPod({ pod, pods, facts, node, now, events: [] });
  }

  private title(
    place: Place,
    status: NodeletStatus | undefined,
    pods: readonly ShownPod[],
    { stale }: Freshness,
  ): string {
    const troubled = troubledPods(pods).length;
    const mark = stale ? "no data · " : troubled > 0 ? `(${troubled}) ` : "";
    return `${mark}${place.view === "pod" ? place.name : TITLES[place.view]} · ${status?.node ?? "node"} · nodelet`;
  }

  private starts(): Record<string, number> {
    return (this.node.get("starts") as Record<string, number> | undefined) ?? {};
  }

  /** Opens the streams of this place, and closes those of the place before. */
  private enter(place: Place): void {
    const fragment = place.view === "pod" ? podLink(place.namespace, place.name) : place.view;
    if (this.opened.fragment === fragment) return;
    this.opened.stream?.close();
    this.opened.log?.close();
    this.opened = { fragment };
    this.pointed = undefined;
    const path = streamOf(place);
    if (path !== undefined) this.opened.stream = new Replica(path, () => this.changed());
    if (place.view === "config") void this.readConfig();
    this.followVisibility();
  }

  private async readConfig(): Promise<void> {
    try {
      const response = await fetch("config");
      if (response.ok) this.configz = (await response.json()) as Configz;
      this.configProblem = response.ok ? undefined : `The kubelet refused: ${await response.text()}`;
    } catch (error) {
      this.configProblem = `The kubelet did not respond: ${error instanceof Error ? error.message : String(error)}`;
    }
    this.changed();
  }

  private content(place: Place, status: NodeletStatus | undefined, seen: readonly ShownPod[], now: number): VNode[] {
    const pods = seen.map(({ pod }) => pod);
    const { stream } = this.opened;
    const { filter, sort, changed } = optionsOf(location.hash);
    const { onFilter } = this;
    const sorting: Sorting = { by: sort, onSort: this.onSort };
    switch (place.view) {
      case "pods": {
        const starts = this.starts();
        const rows = seen.map((one) => podRow(one, this.usageOf(one.pod), starts[one.pod.metadata.uid]));
        return [...manifestsView(status?.manifests, now), podsView({ rows, filter, onFilter, sorting, now })];
      }
      case "pod":
        return this.podContent(place, status, pods, now);
      case "node":
        return nodeView({
          status,
          pods,
          now,
          threads: (this.node.get("threads") as ThreadFacts[] | undefined) ?? [],
          charts: {
            samples: (this.node.withPrefix(SAMPLE_KEY) as UsageSample[]).sort((a, b) => a.at - b.at),
            machine: this.node.get("machine") as MachineSize | undefined,
            now,
            pointed: this.pointed,
            onPoint: this.onPoint,
          },
          host: stream?.get("host") as HostFacts | undefined,
          events: stream?.get("events") as Event[] | undefined,
        });
      case "images":
        return [
          imagesView({
            images: stream?.get("images") as NodeletImages | undefined,
            problem: stream?.get("problem") as string | undefined,
            filter,
            onFilter,
            sorting,
          }),
        ];
      case "config":
        return [
          configView({
            configz: this.configz,
            problem: this.configProblem,
            filter,
            onFilter,
            changedOnly: changed,
            onChangedOnly: this.onChangedOnly,
          }),
        ];
    }
  }

  private usageOf({ metadata }: Pod): PodUsage | undefined {
    return this.node.get(`${USAGE_KEY}${metadata.uid}`) as PodUsage | undefined;
  }

  private podContent(
    { namespace, name }: { namespace: string; name: string },
    node: NodeletStatus | undefined,
    pods: readonly Pod[],
    now: number,
  ): VNode[] {
    const same = pods.filter(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
    const pod = same.find(({ metadata }) => metadata.deletionTimestamp == null) ?? same[0];
    if (node === undefined) return [note("Reading…")];
    const { listLink } = this;
    if (pod === undefined) {
      return [
        h("p", { class: "back" }, h("a", { href: listLink }, "All pods")),
        h("p", { role: "status" }, `This node has no pod ${namespace}/${name} any more.`),
      ];
    }
    const { stream } = this.opened;
    return podView({
      pod,
      pods,
      node,
      now,
      listLink,
      facts: stream?.get("facts") as PodFacts | undefined,
      timeline: stream?.get("timeline") as PodTimeline | undefined,
      details: stream?.get("details") as PodDetails | undefined,
      usage: this.usageOf(pod),
      startedAt: this.starts()[pod.metadata.uid],
      history: this.history.of(pod.metadata.uid),
      pointed: this.pointed,
      onPoint: this.onPoint,
      logs: (containers) => {
        const sources = logSources(containers);
        this.opened.log?.show(sources);
        return h("div", {
          key: `log of ${pod.metadata.uid}`,
          class: "log",
          own: (element) => {
            if (!(element instanceof Element)) return;
            this.opened.log?.close();
            this.opened.log = new LogPanel(element, namespace, name);
            this.opened.log.show(sources);
          },
        });
      },
    });
  }
}

/** The stream that only this place needs. */
function streamOf(place: Place): string | undefined {
  if (place.view === "images") return "stream/images";
  if (place.view === "node") return "stream/host";
  if (place.view !== "pod") return undefined;
  return `stream/pods/${encodeURIComponent(place.namespace)}/${encodeURIComponent(place.name)}`;
}
