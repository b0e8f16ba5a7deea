// /flagz and /statusz, each behind its gate.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { HandlerInit } from "../../../shared/contracts/server.js";
import { apiTime } from "../../../shared/kubernetes/api/time.js";
import type { Route } from "../http/answer.js";
import type { RoutePath } from "../http/paths.js";
import { processStartedAt } from "../metrics/process-metrics.js";
import { type ZPage, replyZPage } from "./reply-z-page.js";

/** @param routes those whose paths are shown */
export function zPages(init: HandlerInit, routes: readonly Route[], clock: Pick<Clock, "now">): Route[] {
  const pages: Route[] = [];
  if (init.gates.componentFlagz) pages.push(route("/flagz", () => flagz(init.flags)));
  if (!init.gates.componentStatusz) return pages;
  const paths = [...new Set([...routes, ...pages].map(({ path }) => `/${path.split("/")[1] ?? ""}`))].sort();
  return [...pages, route("/statusz", () => statusz(init.kubernetesVersion, paths, clock))];
}

function route(path: RoutePath, page: () => ZPage | Promise<ZPage>): Route {
  return {
    path,
    answer: async (request, response) => replyZPage(request, response, await page()),
  };
}

function flagz(flags: HandlerInit["flags"]): ZPage {
  const sorted = [...flags].sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    kind: "Flagz",
    text: sorted.map(({ name, value }) => `${name}=${value}\n`).join(""),
    fields: { flags: Object.fromEntries(sorted.map(({ name, value }) => [name, value])) },
  };
}

/** "goVersion" has the version of Node.js. */
async function statusz(version: string, paths: readonly string[], clock: Pick<Clock, "now">): Promise<ZPage> {
  const startedAt = (await processStartedAt()) * 1000;
  const startTime = apiTime(startedAt);
  const uptimeSeconds = Math.max(0, Math.floor((clock.now() - startedAt) / 1000));
  const binaryVersion = version.replace(/^v/, "");
  const emulationVersion = binaryVersion.split(".").slice(0, 2).join(".");
  const goVersion = `node ${process.version}`;
  const lines = [
    `Started: ${unixDate(new Date(startedAt))}`,
    `Up: ${uptimeText(uptimeSeconds)}`,
    `Go version: ${goVersion}`,
    `Binary version: ${binaryVersion}`,
    `Emulation version: ${emulationVersion}`,
    `Paths: ${paths.join(" ")}`,
  ];
  return {
    kind: "Statusz",
    text: `\n${lines.join("\n")}\n`,
    fields: { startTime, uptimeSeconds, goVersion, binaryVersion, emulationVersion, paths },
  };
}

/** "Sun Nov  9 15:29:03 UTC 2026" */
function unixDate(date: Date): string {
  const [weekday = "", day = "", month = "", year = "", time = ""] = date.toUTCString().replace(",", "").split(" ");
  return `${weekday} ${month} ${String(Number(day)).padStart(2)} ${time} UTC ${year}`;
}

/** "1 hr 02 min 03 sec" */
function uptimeText(seconds: number): string {
  const two = (count: number): string => String(count).padStart(2, "0");
  return `${Math.floor(seconds / 3600)} hr ${two(Math.floor(seconds / 60) % 60)} min ${two(seconds % 60)} sec`;
}
