// JSON of manifests with all digits: an integer beyond 2^53 is a bigint in the command.

import { parseExactJson } from "../../shared/io/yaml/json.js";
import { exactInteger } from "../../shared/kubernetes/api/wide-integers.js";

/** @throws SyntaxError */
export function parseManifestJson(text: string): unknown {
  const read = parseExactJson(text);
  if (read === undefined) throw new SyntaxError(`the kubelet sent no JSON: ${text.slice(0, 100)}`);
  return read.value;
}

/** `change` replaces each value, as in JSON.stringify. */
export function manifestJson(value: unknown, change = (member: unknown): unknown => member): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === "bigint" ? exactInteger(member) : change(member),
  );
}
