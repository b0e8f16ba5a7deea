// /flagz and /statusz, each behind its gate.
import type { RoutePath } from "./paths.js";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../shared/clock/clock.js";
import { goDuration } from "../../shared/clock/durations.js";
import type { HandlerInit, ServerUpcalls } from "../../shared/contracts/server.js";
import { processStartedAt } from "./process-metrics.js";
import type { Route, Answer } from "./answer.js";
import { wantBody } from "./http1/bodies.js";
import { apiTime } from "../../shared/api/time.js";
import { replyError, replyPlain, replyText } from "./reply.js";
import type { Remote } from "../../shared/thread/remote-calls.js";

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

// PUT /debug/flags/v: how much is logged from now on, in every thread.

const HEADERS = { "X-Content-Type-Options": "nosniff" };
const MAX_BODY = 64;

export function flagsRoute(enabled: boolean, upcalls: Pick<Remote<ServerUpcalls>, "setVerbosity">): Route {
  const answer: Answer = async (request, response) => {
    if (!enabled) {
      replyError(response, 405, "flags endpoint is disabled.");
      return;
    }
    if (request.method !== "PUT") {
      replyPlain(response, 406, "unsupported http method", HEADERS);
      return;
    }
    const body = await readShort(request);
    if (body === undefined || !/^[+-]?\d{1,9}$/.test(body)) {
      const value = JSON.stringify(body ?? "…");
      replyPlain(response, 400, `failed set klog.logging.verbosity ${value}: not a number`, HEADERS);
      return;
    }
    await upcalls.setVerbosity(Math.max(0, Number(body)));
    replyPlain(response, 200, `successfully set klog.logging.verbosity to ${body}`, HEADERS);
  };
  return { path: "/debug/flags/v", answer };
}

/** undefined: longer than any number. */
async function readShort(request: IncomingMessage): Promise<string | undefined> {
  let text = "";
  wantBody(request);
  for await (const part of request as AsyncIterable<Buffer>) {
    text += part.toString("utf8");
    if (text.length > MAX_BODY) return undefined;
  }
  return text;
}

// /flagz and /statusz: the kubelet's flags, and its version and start. Plain text; JSON or YAML for a client that names the kind in
// Accept: application/json;g=config.k8s.io;v=v1beta1;as=Flagz.

const WARNING =
  "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.";
const GROUP = "config.k8s.io";
const VERSIONS = ["v1beta1", "v1alpha1"];
/** JSON is YAML, too. */
const STRUCTURED = ["application/json", "application/yaml"];

interface ZPage {
  kind: "Flagz" | "Statusz";
  text: string;
  /** Fields of the object, beside kind, version and metadata. */
  fields: object;
}

function replyZPage(request: IncomingMessage, response: ServerResponse, page: ZPage): void {
  const accept = (request.headers.accept ?? "").trim();
  const chosen = accept === "" ? "text" : choose(accept, page.kind);
  if (chosen === "text") {
    replyText(response, `\nkubelet ${page.kind.toLowerCase()}\n${WARNING}\n${page.text}`);
    return;
  }
  if (chosen === undefined) {
    const wanted = `text/plain, or ${STRUCTURED.join(" or ")} with g=${GROUP};v=v1beta1;as=${page.kind}`;
    replyError(response, 406, `only the following media types are accepted: ${wanted}`);
    return;
  }
  const { type, version } = chosen;
  if (version === "v1alpha1") {
    const warning = `299 - "This version of the ${page.kind.toLowerCase()} endpoint is deprecated. Please use a newer version."`;
    response.setHeader("Warning", warning);
  }
  const object = { kind: page.kind, apiVersion: `${GROUP}/${version}`, metadata: { name: "kubelet" }, ...page.fields };
  replyText(response, `${JSON.stringify(object)}\n`, type);
}

/** The first of the client's choices that there is. */
function choose(accept: string, kind: string): "text" | { type: string; version: string } | undefined {
  for (const choice of accept.split(",")) {
    const [type = "", ...parameters] = choice.split(";").map((part) => part.trim());
    const named = new Map(
      parameters.map((parameter): [string, string] => {
        const at = parameter.indexOf("=");
        return [parameter.slice(0, at), parameter.slice(at + 1)];
      }),
    );
    const [group, version, as] = [named.get("g"), named.get("v"), named.get("as")];
    if (["text/plain", "text/*", "*/*"].includes(type) && as === undefined) return "text";
    const isKnown = group === GROUP && version !== undefined && VERSIONS.includes(version) && as === kind;
    if (isKnown && STRUCTURED.includes(type)) return { type, version };
  }
  return undefined;
}
