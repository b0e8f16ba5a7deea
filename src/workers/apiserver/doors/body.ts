// The object of a request's body.

import type { IncomingMessage } from "node:http";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { PROTOBUF_TYPE } from "../../../shared/kubernetes/api/client/call/body.js";
import { parseYaml } from "../../tasks/manifest/parse-text.js";
import { badRequest, unsupportedMediaType } from "../objects/errors.js";
import { parsedJson } from "../objects/json.js";
import { isFields, type ApiObject, type Fields } from "../objects/object.js";
import { fromProtobuf } from "../objects/schema.js";
import { boundedTree } from "../objects/tree.js";

export const MAX_BODY_BYTES = 3 * 1024 * 1024;
const TYPES = ["application/json", "application/yaml", "application/apply-patch+yaml"];

export function mediaType({ headers }: Pick<IncomingMessage, "headers">): string {
  return (headers["content-type"] ?? TYPES[0] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

/** undefined: there is none. Its depth is bounded. */
export function parseBody(bytes: Uint8Array, type: string): unknown {
  return bytes.length === 0 ? undefined : boundedTree(parsedBody(bytes, type));
}

function parsedBody(bytes: Uint8Array, type: string): unknown {
  if (type === PROTOBUF_TYPE) return protobufBody(bytes);
  if (!TYPES.includes(type) && !type.endsWith("+json")) {
    throw unsupportedMediaType(TYPES.slice(0, 2));
  }
  if (type.endsWith("yaml")) {
    const read = parseYaml(bytes);
    if (read.ok) return read.parsed.value;
    throw badRequest(
      `error decoding YAML: ${read.faults.map(({ reason, allowed, line }) => `line ${line}: ${reason}: ${allowed}`).join("; ")}`,
    );
  }
  try {
    return parsedJson(Buffer.from(bytes).toString("utf8"));
  } catch (error) {
    throw badRequest(`error decoding JSON: ${messageOf(error)}`);
  }
}

function protobufBody(bytes: Uint8Array): Fields {
  try {
    return fromProtobuf(Buffer.from(bytes));
  } catch (error) {
    throw badRequest(`error decoding protobuf: ${messageOf(error)}`);
  }
}

export function objectBody(body: unknown): ApiObject {
  if (!isFields(body)) throw badRequest("the request body is no object");
  const metadata = isFields(body["metadata"]) ? body["metadata"] : {};
  const name = typeof metadata["name"] === "string" ? metadata["name"] : "";
  return { ...body, metadata: { ...metadata, name } } as unknown as ApiObject;
}
