// /flagz and /statusz, each behind its gate.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { goDuration } from "../../../shared/base/clock/go-duration.js";
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
  const paths = [...new Set([...routes, ...pages].map(({ path }) => path.replace(/\/(\*|:.*)$/, "")))].sort();
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
  const goVersion = `node ${process.version}`;
  const lines = [
    `Started: ${startTime}`,
    `Up: ${goDuration(uptimeSeconds * 1000)}`,
    `Go version: ${goVersion}`,
    `Binary version: ${binaryVersion}`,
    `Paths: ${paths.join(" ")}`,
  ];
  return {
    kind: "Statusz",
    text: `\n${lines.join("\n")}\n`,
    fields: { startTime, uptimeSeconds, goVersion, binaryVersion, paths },
  };
}
