// /flagz and /statusz: the kubelet's flags, and its version and start. Plain text; JSON or YAML for a client that names
// the kind in Accept: application/json;g=config.k8s.io;v=v1beta1;as=Flagz.

import type { IncomingMessage, ServerResponse } from "http";
import { replyJson, replyText } from "../http/reply.js";

const WARNING =
  "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.";
const GROUP = "config.k8s.io";
const VERSIONS = ["v1beta1", "v1alpha1"];
/** JSON is YAML, too. */
const STRUCTURED = ["application/json", "application/yaml"];

export interface ZPage {
  kind: "Flagz" | "Statusz";
  text: string;
  /** Fields of the object, beside kind, version and metadata. */
  fields: object;
}

export function replyZPage(request: IncomingMessage, response: ServerResponse, page: ZPage): void {
  const accept = (request.headers.accept ?? "").trim();
  const chosen = accept === "" ? "text" : choose(accept, page.kind);
  if (chosen === "text") {
    replyText(response, `\nkubelet ${page.kind.toLowerCase()}\n${WARNING}\n${page.text}`);
    return;
  }
  if (chosen === undefined) {
    const refusal = {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: `only the following media types are accepted: ${[...STRUCTURED, "text/plain"].join(", ")}`,
      reason: "NotAcceptable",
      code: 406,
    };
    replyJson(response, 406, `${JSON.stringify(refusal)}\n`);
    return;
  }
  const { type, version } = chosen;
  if (version === "v1alpha1") {
    const warning = `299 - "This version of the ${page.kind.toLowerCase()} endpoint is deprecated. Please use a newer version."`;
    response.setHeader("Warning", warning);
  }
  const object = { kind: page.kind, apiVersion: `${GROUP}/${version}`, metadata: { name: "kubelet" }, ...page.fields };
  replyText(response, `${JSON.stringify(object)}\n`, `${type};g=${GROUP};v=${version};as=${page.kind}`);
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
