// The status page: puts streams, place and views together, and draws at most once per frame.
// Invariant: while the page is not visible it holds no stream.
import { problemsOf } from "../cli/problems.js";
import { since } from "../cli/output/amounts.js";
import type { Configz } from "../cli/config-lines.js";
import { podState } from "../cli/pods/state.js";
import type { Pod } from "../shared/api/pod.js";
import type { NodeletImages, NodeletStatus, PodFacts, ThreadFacts } from "../shared/contracts/nodelet.js";
import { POD_KEY, SAMPLE_KEY, type MachineSize, type UsageSample } from "../shared/contracts/status-page.js";
import type { PodTimeline } from "../shared/contracts/timeline.js";
import { patch } from "./dom/patch.js";
import { h, type VNode } from "./dom/vnode.js";
import { LogPanel } from "./log-panel.js";
import type { LogSource } from "./log-sources.js";
import { placeOf, podLink, type Place } from "./place.js";
import { Replica } from "./replica.js";
import { followShortcuts } from "./shortcuts.js";
import { configView } from "./views/config.js";
import { imagesView } from "./views/images.js";
import { manifestsView } from "./views/manifests.js";
import { nodeView } from "./views/node.js";
import { badge } from "./views/parts.js";
import { podView } from "./views/pod.js";
import { podsView } from "./views/pods.js";

const TITLES: Readonly<Record<Place["view"], string>> = {
  pods: "Pods",
  pod: "Pod",
  node: "Node",
  images: "Images",
  config: "Configuration",
};

/** Connections of a place beyond the stream of the node. */
interface Opened {
  fragment: string;
  stream?: Replica;
  log?: LogPanel;
}

export class Page {
  private readonly node = new Replica("stream/node", () => this.changed());
  private opened: Opened = { fragment: "none" };
  private configz: Configz | undefined;
  private configProblem: string | undefined;
  private podFilter = "";
  private fieldFilter = "";
  private changedOnly = false;
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
    followShortcuts();
    this.changed();
  }

  private readonly onPodFilter = (text: string): void => {
    this.podFilter = text;
    this.changed();
  };

  private readonly onFieldFilter = (text: string): void => {
    this.fieldFilter = text;
    this.changed();
  };

  private readonly onChangedOnly = (): void => {
    this.changedOnly = !this.changedOnly;
    this.changed();
  };

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
    const status = this.node.get("status") as NodeletStatus | undefined;
    if (status !== undefined && status !== this.statusSeen) {
      this.statusSeen = status;
      this.ahead = status.now - Date.now();
    }
    const pods = this.node.withPrefix(POD_KEY) as Pod[];
    document.title = `${place.view === "pod" ? place.name : TITLES[place.view]} · ${status?.node ?? "node"} · nodelet`;
    patch(this.header, this.head(place, status, pods));
    patch(this.main, this.content(place, status, pods));
  }

  private now(): number {
    return Date.now() + this.ahead;
  }

  /** Opens the streams of this place, and closes those of the place before. */
  private enter(place: Place): void {
    const fragment = place.view === "pod" ? podLink(place.namespace, place.name) : place.view;
    if (this.opened.fragment === fragment) return;
    this.opened.stream?.close();
    this.opened.log?.close();
    this.opened = { fragment };
    if (place.view === "images") this.opened.stream = new Replica("stream/images", () => this.changed());
    if (place.view === "pod") {
      const path = `stream/pods/${encodeURIComponent(place.namespace)}/${encodeURIComponent(place.name)}`;
      this.opened.stream = new Replica(path, () => this.changed());
    }
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

  private head(place: Place, status: NodeletStatus | undefined, pods: readonly Pod[]): VNode[] {
    const { connection } = this.node;
    const link = (view: "pods" | "node" | "images" | "config"): VNode => {
      const current = place.view === view || (view === "pods" && place.view === "pod");
      return h("a", { href: `#/${view}`, ...(current && { "aria-current": "page" }) }, TITLES[view]);
    };
    const runtime = status?.facts?.runtime;
    return [
      h(
        "div",
        { class: "title" },
        h("h1", {}, status?.node ?? "nodelet"),
        h(
          "span",
          { class: "muted" },
          status === undefined
            ? ""
            : `kubelet ${status.kubernetesVersion}${runtime === undefined ? "" : ` · ${runtime.name} ${runtime.version}`}`,
        ),
        h(
          "span",
          { class: "connection", role: "status" },
          connection === "live"
            ? badge("good", "live")
            : badge("warn", connection === "lost" ? "no connection, trying again" : "connecting"),
        ),
      ),
      h("nav", { "aria-label": "Views" }, link("pods"), link("node"), link("images"), link("config")),
      ...this.problems(status, pods),
    ];
  }

  private problems(status: NodeletStatus | undefined, pods: readonly Pod[]): VNode[] {
    if (status === undefined) return [];
    const ofNode = problemsOf(status).map(({ severity, what, since: at, help }) =>
      h(
        "p",
        { class: `finding ${severity === "error" ? "bad" : "warn"}` },
        h("strong", {}, severity),
        `: ${what}${at === undefined ? "" : ` (${since(at, this.now())})`}. `,
        h("span", { class: "muted" }, help),
      ),
    );
    const troubled = pods.filter((pod) => !podState(pod).fine).length;
    const are = troubled === 1 ? "is" : "are";
    const ofPods =
      troubled === 0
        ? []
        : [h("p", { class: "finding warn" }, `${troubled} of ${pods.length} pods ${are} not running and ready.`)];
    const all = [...ofNode, ...ofPods];
    return [
      // Durations change every second: a screen reader hears the numbers of problems only, when they change.
      h("p", { class: "hidden", role: "status" }, `Problems: ${ofNode.length} of the node, ${troubled} of pods`),
      h(
        "div",
        { class: "problems", role: "region", "aria-label": "Problems" },
        all.length > 0 ? all : [h("p", { class: "muted" }, badge("good", "nothing is wrong"))],
      ),
    ];
  }

  private content(place: Place, status: NodeletStatus | undefined, pods: readonly Pod[]): VNode[] {
    const now = this.now();
    const { stream } = this.opened;
    switch (place.view) {
      case "pods":
        return [
          ...manifestsView(status?.manifests, now),
          podsView({ pods, filter: this.podFilter, onFilter: this.onPodFilter, now }),
        ];
      case "pod":
        return this.podContent(place, status, pods);
      case "node": {
        const threads = (this.node.get("threads") as ThreadFacts[] | undefined) ?? [];
        const samples = (this.node.withPrefix(SAMPLE_KEY) as UsageSample[]).sort((a, b) => a.at - b.at);
        return nodeView({
          status,
          threads,
          samples,
          machine: this.node.get("machine") as MachineSize | undefined,
          now,
        });
      }
      case "images":
        return [
          imagesView(stream?.get("images") as NodeletImages | undefined, stream?.get("problem") as string | undefined),
        ];
      case "config":
        return [
          configView({
            configz: this.configz,
            problem: this.configProblem,
            filter: this.fieldFilter,
            onFilter: this.onFieldFilter,
            changedOnly: this.changedOnly,
            onChangedOnly: this.onChangedOnly,
          }),
        ];
    }
  }

  private podContent(
    { namespace, name }: { namespace: string; name: string },
    node: NodeletStatus | undefined,
    pods: readonly Pod[],
  ): VNode[] {
    const same = pods.filter(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
    const pod = same.find(({ metadata }) => metadata.deletionTimestamp == null) ?? same[0];
    if (node === undefined) return [h("p", { class: "muted" }, "Reading…")];
    if (pod === undefined) {
      return [
        h("p", { class: "back" }, h("a", { href: "#/pods" }, "All pods")),
        h("p", { role: "status" }, `This node has no pod ${namespace}/${name} any more.`),
      ];
    }
    const { stream } = this.opened;
    const logs = (containers: readonly LogSource[]): VNode => {
      this.opened.log?.show(containers);
      return h("div", {
        key: `log of ${pod.metadata.uid}`,
        class: "log",
        own: (element) => {
          if (!(element instanceof Element)) return;
          this.opened.log?.close();
          this.opened.log = new LogPanel(element, namespace, name);
          this.opened.log.show(containers);
        },
      });
    };
    return podView({
      ...{ pod, pods, node, logs },
      facts: stream?.get("facts") as PodFacts | undefined,
      timeline: stream?.get("timeline") as PodTimeline | undefined,
      now: this.now(),
    });
  }
}
