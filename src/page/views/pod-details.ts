// What a pod's definition says: images, variables, mounts, ports, probes, volumes, labels, settings. Names, never
// values of variables. Pure.

import { containersOf, type ContainerView } from "../../cli/why/input.js";
import type { PodFacts } from "../../shared/contracts/nodelet.js";
import type { ContainerDetails, Listed, PodDetails } from "../../shared/contracts/status-page.js";
import type { Pod, Probe } from "../../shared/kubernetes/api/pod.js";
import { h, type Child, type VNode } from "../dom/vnode.js";
import { badge, breakable, facts as pairs, note, section } from "./parts.js";
import { table } from "./table.js";

export function definitionView(pod: Pod, details: PodDetails | undefined): VNode {
  if (details === undefined) return section("Definition", note("Not known yet."));
  const { containers, labels, settings } = details;
  const views = new Map(containersOf(pod).map((view) => [view.container.name, view]));
  return section(
    "Definition",
    ...containers.items.map((one) => containerView(one, views.get(one.name))),
    more(containers, "containers"),
    h("h3", {}, "Pod"),
    pairs([
      ...settings.map(({ name, value }): [string, Child] => [name, value]),
      [
        "Labels",
        list(
          labels,
          ({ name, value }) => h("span", { class: "code" }, value === "" ? name : `${name}=${value}`),
          "none",
        ),
      ],
    ]),
  );
}

function containerView(details: ContainerDetails, view: ContainerView | undefined): VNode {
  const { name, env, envFrom, mounts, ports, security } = details;
  const { image = "–", resources, startupProbe, livenessProbe, readinessProbe } = view?.container ?? {};
  const amounts = (all: Readonly<Record<string, unknown>> = {}): string =>
    Object.entries(all)
      .map(([resource, quantity]) => `${resource} ${String(quantity)}`)
      .join(", ") || "none";
  return h(
    "div",
    { key: name, class: "container" },
    h("h3", {}, `Container ${name}`),
    pairs([
      ["Image", h("span", { class: "code" }, breakable(image))],
      ["Requests", amounts(resources?.requests)],
      ["Limits", amounts(resources?.limits)],
      ["Ports", ports.join("; ") || "none"],
      ["Startup probe", probeText(startupProbe)],
      ["Liveness probe", probeText(livenessProbe)],
      ["Readiness probe", probeText(readinessProbe)],
      ["Security", security.join(", ") || "the runtime's defaults"],
    ]),
    pairs(
      [
        [
          "Environment",
          [
            list(
              env,
              ({ name: variable, from }) => [
                h("span", { class: "code" }, variable),
                from !== undefined && h("span", { class: "muted" }, ` from ${from}`),
              ],
              envFrom.length === 0 ? "none" : "",
            ),
            ...envFrom.map((text) => h("p", { class: "muted" }, text)),
          ],
        ],
        [
          "Mounts",
          list(
            mounts,
            ({ path, volume, readOnly }) => [
              h("span", { class: "code" }, breakable(path)),
              h("span", { class: "muted" }, ` from ${volume}${readOnly ? ", read-only" : ""}`),
            ],
            "none",
          ),
        ],
      ],
      true,
    ),
  );
}

function list<T>(listed: Listed<T>, show: (item: T) => Child | readonly Child[], empty: string): VNode | string {
  if (listed.items.length === 0) return empty;
  return h(
    "ul",
    { class: "plain" },
    listed.items.map((item) => h("li", {}, show(item))),
    listed.more > 0 && h("li", { class: "muted" }, `and ${listed.more} more`),
  );
}

function more({ more: left }: Listed<unknown>, what: string): VNode | false {
  return left > 0 && note(`${left} more ${what} are not shown.`);
}

function probeText(probe: Probe | undefined): string {
  if (probe === undefined) return "none";
  const { exec, httpGet, tcpSocket, grpc, periodSeconds = 10, timeoutSeconds = 1, failureThreshold = 3 } = probe;
  const what =
    exec !== undefined
      ? `exec ${(exec.command ?? []).join(" ")}`
      : httpGet !== undefined
        ? `GET ${httpGet.path ?? "/"} on port ${httpGet.port}`
        : tcpSocket !== undefined
          ? `TCP port ${tcpSocket.port}`
          : `gRPC port ${grpc?.port ?? "?"}`;
  return `${what}, every ${periodSeconds} s, within ${timeoutSeconds} s, fails after ${failureThreshold}`;
}

/** Volumes as main has them, with their sources. */
export function volumesView(facts: PodFacts | undefined, details: PodDetails | undefined): VNode[] {
  if (facts === undefined || facts.volumes.length === 0) return [];
  const sources = new Map(details?.volumes.items.map(({ name, source }) => [name, source]));
  return [
    section(
      "Volumes",
      table({
        caption: "Volumes of the pod",
        columns: [
          { title: "Name", cell: ({ name }) => name },
          { title: "Source", class: "name", cell: ({ name, plugin }) => breakable(sources.get(name) ?? plugin) },
          {
            title: "State",
            cell: ({ mounted, lastError }) =>
              mounted
                ? badge("good", "set up")
                : badge(lastError === undefined ? "warn" : "bad", lastError ?? "not set up yet"),
          },
        ],
        rows: facts.volumes,
        keyOf: ({ name }) => name,
        empty: "",
      }),
    ),
  ];
}
