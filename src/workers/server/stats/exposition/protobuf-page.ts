// A page of samples in Prometheus' text, as delimited messages io.prometheus.client.MetricFamily. The page is kept as
// text, in which most clients read it; its few clients of protobuf pay for the other form.

import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { unescapeHelp, unescapeLabel } from "../../../../shared/base/text/escape.js";
import { FIELDS, TYPES, writeLabel } from "../../metrics/protobuf-exposition.js";
import type { Breath } from "../breath.js";

/** Rows between two looks at the time. */
const ROWS = 64;

/**
 * Each message after its length, family by family.
 * @param families texts as Page gives them: HELP, TYPE, and rows with labels in their order
 */
export async function* protobufPage(
  families: Iterable<Buffer>,
  breath: Pick<Breath, "take">,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (const family of families) {
    const [help = "", type = "", ...rows] = family.toString().trimEnd().split("\n");
    const { name, kind } = typeOf(type);
    const writer = new BinaryWriter();
    writer.tag(1, WireType.LengthDelimited).string(name);
    writer.tag(2, WireType.LengthDelimited).string(unescapeHelp(help.slice(`# HELP ${name} `.length)));
    writer.tag(3, WireType.Varint).int32(TYPES[kind]);
    for (const [at, row] of rows.entries()) {
      writeRow(writer, kind, row.slice(name.length));
      if (at % ROWS === ROWS - 1) await breath.take();
    }
    const message = writer.finish();
    yield new BinaryWriter().uint32(message.length).raw(message).finish();
    await breath.take();
  }
}

type Kind = "counter" | "gauge";

/** `# TYPE name kind` */
function typeOf(line: string): { name: string; kind: Kind } {
  const [, , name = "", kind] = line.split(" ");
  return { name, kind: kind === "counter" ? "counter" : "gauge" };
}

const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/y;

/** @param row `{labels} value time` or a part of it, without the name */
function writeRow(writer: BinaryWriter, kind: Kind, row: string): void {
  writer.tag(FIELDS.metric, WireType.LengthDelimited).fork();
  let at = row.startsWith("{") ? 1 : 0;
  for (LABEL.lastIndex = at; at > 0 && row[at] !== "}"; LABEL.lastIndex = at) {
    const found = LABEL.exec(row);
    if (found === null) break;
    writeLabel(writer, found[1] ?? "", unescapeLabel(found[2] ?? ""));
    at = row[LABEL.lastIndex] === "," ? LABEL.lastIndex + 1 : LABEL.lastIndex;
  }
  const [value = "", time] = row
    .slice(row[at] === "}" ? at + 1 : at)
    .trimStart()
    .split(" ");
  writer.tag(FIELDS[kind], WireType.LengthDelimited).fork();
  writer.tag(1, WireType.Bit64).double(numberOf(value));
  writer.join();
  if (time !== undefined) writer.tag(FIELDS.timestamp, WireType.Varint).int64(time);
  writer.join();
}

/** The number of a text that numberText made. */
function numberOf(text: string): number {
  if (text === "+Inf") return Infinity;
  return text === "-Inf" ? -Infinity : Number(text);
}
