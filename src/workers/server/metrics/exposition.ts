// A metrics page in the format that the client prefers: Prometheus' text, or its protobuf, which native histograms
// need. https://prometheus.io/docs/instrumenting/content_negotiation/

import type { MetricSnapshot } from "../../../shared/telemetry/metrics/snapshot.js";
import { EXPOSITION_CONTENT_TYPE, mergeSnapshots, renderExposition } from "./merge-metrics.js";

const PROTOBUF_TYPE = "application/vnd.google.protobuf";
const PROTOBUF_CONTENT_TYPE = `${PROTOBUF_TYPE}; proto=io.prometheus.client.MetricFamily; encoding=delimited`;

export interface Exposition {
  body: string | Buffer;
  contentType: string;
}

/**
 * `accept`: the header; `counted`: with registered_metrics_total. The code for protobuf is loaded with its first
 * client.
 */
export async function exposition(
  snapshots: readonly MetricSnapshot[],
  accept: string | undefined,
  counted = false,
): Promise<Exposition> {
  if (!prefersProtobuf(accept)) {
    return { body: renderExposition(snapshots, counted), contentType: EXPOSITION_CONTENT_TYPE };
  }
  const { protobufExposition } = await import("./protobuf-exposition.js");
  return { body: protobufExposition(mergeSnapshots(snapshots, counted)), contentType: PROTOBUF_CONTENT_TYPE };
}

/** The first of the formats with the highest quality is protobuf, in delimited messages. @internal */
export function prefersProtobuf(accept: string | undefined): boolean {
  let best = { quality: 0, protobuf: false };
  for (const entry of (accept ?? "").split(",")) {
    const [type = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
    const given = new Map(parameters.map(nameAndValue));
    const quality = Number(given.get("q") ?? "1");
    const protobuf =
      type === PROTOBUF_TYPE &&
      given.get("proto") === "io.prometheus.client.metricfamily" &&
      given.get("encoding") === "delimited";
    if (quality > best.quality && (protobuf || isText(type, given))) best = { quality, protobuf };
  }
  return best.protobuf;
}

function nameAndValue(parameter: string): [string, string] {
  const [name = "", value = ""] = parameter.split("=", 2);
  return [name, value];
}

function isText(type: string, given: ReadonlyMap<string, string>): boolean {
  const version = given.get("version") ?? "0.0.4";
  return type === "*/*" || type === "text/*" || (type === "text/plain" && (version === "0.0.4" || version === "1.0.0"));
}
