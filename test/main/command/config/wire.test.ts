// What /configz leaves out. test/facts/configz.jsonl is recorded from upstream's kubelet 1.36.2, started with each zero
// value: its /configz for a file without fields, and what each field changes in it ("ABSENT": left out).

import { deepEqual, ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { POINTERS } from "../../../../src/main/command/config/wire.js";
import { resolveSources } from "../../../support/config-kit.js";

const facts = (name: string): string[] =>
  readFileSync(join(import.meta.dirname, "../../../../../test/facts", name), "utf8")
    .trimEnd()
    .split("\n");

type Fields = Record<string, unknown>;
interface Row {
  path: string;
  value: string;
  diff: [path: string, before: unknown, after: unknown][];
}

const [first = "", ...others] = facts("configz.jsonl");
const { configz } = JSON.parse(first) as { configz: Fields };

/** Configuration of the recorded start, and paths of the machine. */
const HEAD = [
  "authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}",
  "authorization: {mode: AlwaysAllow}",
  "failSwapOn: false\nfailCgroupV1: false\ncontainerRuntimeEndpoint: unix:///run/containerd/containerd.sock\n",
].join("\n");
/** Upstream shows the paths of the certificate that it made. */
const OF_THE_MACHINE = ["tlsCertFile", "tlsPrivateKeyFile", "resolvConf"];

/** The fields as JSON, without those of the machine. */
function ofUpstream(fields: Fields): Fields {
  const all = JSON.parse(JSON.stringify(fields)) as Fields;
  return Object.fromEntries(Object.entries(all).filter(([name]) => !OF_THE_MACHINE.includes(name)));
}

async function shown(body: string): Promise<Fields> {
  const { config } = await resolveSources({ file: HEAD + body, flags: { v: 2 } });
  return ofUpstream(config.toWireObject());
}

const bodyOf = ({ path, value }: Row): string => {
  const parts = path.split(".");
  return parts.map((part, depth) => `${"  ".repeat(depth)}${part}:`).join("\n") + ` ${value}\n`;
};

function changed({ diff }: Row): Fields {
  const copy = structuredClone(configz);
  for (const [path, , after] of diff) {
    const steps = path.slice(1).split(".");
    let target = copy;
    for (const step of steps.slice(0, -1)) target = (target[step] ??= {}) as Fields;
    target[steps.at(-1) ?? ""] = after === "ABSENT" ? undefined : after;
  }
  return ofUpstream(copy);
}

test("/configz of a file without fields is upstream's", async () => {
  deepEqual(await shown(""), changed({ path: "", value: "", diff: [] }));
});

test("a zero value is shown, or left out, as upstream's kubelet does it", async () => {
  const rows = others.map((line) => JSON.parse(line) as Row);
  ok(rows.length > 150);
  const wrong: string[] = [];
  for (const row of rows) {
    try {
      deepEqual(await shown(bodyOf(row)), changed(row));
    } catch (error) {
      wrong.push(`${row.path}: ${row.value}: ${error instanceof Error ? error.message.slice(0, 400) : String(error)}`);
    }
  }
  deepEqual(wrong, []);
});

test("a field counts as a pointer where upstream's type is one", () => {
  const pointers = facts("config-fields.tsv").flatMap((line) => {
    const [path = "", type = ""] = line.split("\t");
    return type.startsWith("*") ? [path] : [];
  });
  deepEqual([...POINTERS].sort(), pointers.sort());
});
