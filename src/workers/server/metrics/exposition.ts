// A metrics page in the format that the client prefers: Prometheus' text, or its protobuf, which native histograms
// need. https://prometheus.io/docs/instrumenting/content_negotiation/

import type { ServerResponse } from "node:http";
import type { MetricSnapshot } from "../../../shared/telemetry/metrics/snapshot.js";
import { mergeSnapshots, renderExposition } from "./merge-metrics.js";
import { processStartedAt } from "./process-metrics.js";

const TEXT_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";
const PROTOBUF_TYPE = "application/vnd.google.protobuf";
const PROTOBUF_CONTENT_TYPE = `${PROTOBUF_TYPE}; proto=io.prometheus.client.MetricFamily; encoding=delimited`;

export interface Exposition {
  body: Buffer;
  contentType: string;
}

export type Format = "text" | "protobuf";

/** A page in the format that the header `accept` prefers. */
export async function exposition(
  snapshots: readonly MetricSnapshot[],
  accept: string | undefined,
): Promise<Exposition> {
  const asProtobuf = prefersProtobuf(accept);
  return {
    body: await expositionBody(snapshots, asProtobuf ? "protobuf" : "text"),
    contentType: asProtobuf ? protobufContentType(accept) : textContentType(accept),
  };
}

/** `counted`: with registered_metrics_total. The code for protobuf is loaded with its first client. */
export async function expositionBody(
  snapshots: readonly MetricSnapshot[],
  format: Format,
  counted = false,
): Promise<Buffer> {
  if (format === "text") return Buffer.from(renderExposition(snapshots, counted));
  const { protobufExposition } = await import("./protobuf-exposition.js");
  return protobufExposition(mergeSnapshots(snapshots, counted));
}

/** The content type of Prometheus' delimited protobuf, with the escaping scheme of the client. */
export function protobufContentType(accept: string | undefined): string {
  return PROTOBUF_CONTENT_TYPE + escapingOf(accept);
}

/** Upstream's metrics pages have the header, in whole seconds since the epoch. */
export async function showProcessStart(response: Pick<ServerResponse, "setHeader">): Promise<void> {
  response.setHeader("Process-Start-Time-Unix", String(Math.floor(await processStartedAt())));
}

/** The content type of Prometheus' text, with the escaping scheme of the client. */
export function textContentType(accept: string | undefined): string {
  return TEXT_CONTENT_TYPE + escapingOf(accept);
}

const ESCAPINGS = new Set(["allow-utf-8", "underscores", "dots", "values"]);

/**
 * The scheme of the client's formats up to the one that it gets. It changes nothing else: all names of metrics here are
 * valid under every scheme.
 */
function escapingOf(accept: string | undefined): string {
  let escaping = "underscores";
  const entries = [...entriesOf(accept)].sort((one, other) => other.quality - one.quality);
  for (const { type, given } of entries) {
    const asked = given.get("escaping") ?? "";
    if (ESCAPINGS.has(asked)) escaping = asked;
    const version = given.get("version") ?? "";
    if (isProtobuf(type, given) || (type === "text/plain" && (version === "" || version === "0.0.4"))) break;
  }
  return `; escaping=${escaping}`;
}

/** The first of the formats with the highest quality is protobuf, in delimited messages. */
export function prefersProtobuf(accept: string | undefined): boolean {
  let best = { quality: 0, protobuf: false };
  for (const { type, given, quality } of entriesOf(accept)) {
    const protobuf = isProtobuf(type, given);
    if (quality > best.quality && (protobuf || isText(type, given))) best = { quality, protobuf };
  }
  return best.protobuf;
}

interface Entry {
  type: string;
  given: ReadonlyMap<string, string>;
  quality: number;
}

/** Characters of the header; Prometheus sends four hundred. It is read several times for each page. */
const LONGEST_ACCEPT = 4096;

/** Those at the header's beginning. */
function* entriesOf(accept: string | undefined): Generator<Entry> {
  for (const entry of (accept ?? "").slice(0, LONGEST_ACCEPT).split(",")) {
    const [type = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
    const given = new Map(parameters.map(nameAndValue));
    yield { type, given, quality: Number(given.get("q") ?? "1") };
  }
}

function isProtobuf(type: string, given: ReadonlyMap<string, string>): boolean {
  return (
    type === PROTOBUF_TYPE &&
    given.get("proto") === "io.prometheus.client.metricfamily" &&
    given.get("encoding") === "delimited"
  );
}

function nameAndValue(parameter: string): [string, string] {
  const [name = "", value = ""] = parameter.split("=", 2);
  return [name, value];
}

function isText(type: string, given: ReadonlyMap<string, string>): boolean {
  const version = given.get("version") ?? "0.0.4";
  return type === "*/*" || type === "text/*" || (type === "text/plain" && (version === "0.0.4" || version === "1.0.0"));
}
