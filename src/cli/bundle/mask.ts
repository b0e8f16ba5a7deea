// Masks what containers wrote and what users chose, in pods, events and messages of a support bundle. Pure. When in
// doubt, it masks.

import { isRecord } from "../../shared/base/text/is-record.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import { MASK, maskText } from "./mask-text.js";

/** Text that a container has written or chosen, in a message of an event, of the status or of the log. */
const PROBE =
  /((?:Liveness|Readiness|Startup|liveness|readiness|startup) probe (?:failed|warning|errored[^:\n]{0,60}): )/;
const HTTP_STATUS = /^HTTP probe failed with statuscode: \d{1,3}$/;
const HOOK = /(lifecycle hook )[\s\S]*/i;
const EXEC =
  /(\b(?:exec|starting container process caused|unable to start container process)\b[^"\n]{0,200})"(?:[^"\\\n]|\\.){0,512}"?/g;

/** A value of a manifest that the kubelet refuses, in words and as data. */
const REFUSED = ": (?:wrong type|(?:unsupported|invalid|duplicate) value|forbidden) ";
const GOT = new RegExp(
  String.raw`(${REFUSED})(?:[^\n]{1,2000}?(?=; allowed: )|\\{0,4}"(?:[^"\\]|\\.){0,2000}"?|[[{][^;\n]{0,2000})|("got\\{0,4}":\\{0,4})"(?:[^"\\]|\\.){0,2000}"?`,
  "g",
);

/**
 * A message about a container or a manifest: outputs of probes and hooks, names of commands, and refused values are
 * masked.
 */
export function maskMessage(message: string): string {
  const [before = "", intro = "", output = ""] = message.split(PROBE);
  const shown = intro === "" ? before : `${before}${intro}${HTTP_STATUS.test(output) ? output : MASK}`;
  const masked = shown.replace(HOOK, `$1${MASK}`).replace(EXEC, `$1"${MASK}"`);
  return maskText(
    masked.replace(GOT, (_all, words: string | undefined, got: string | undefined) =>
      words === undefined ? `${got ?? ""}"${MASK}"` : `${words}${MASK}`,
    ),
  );
}

/** Messages of events, of states and of a log, wherever they are in a value. */
export function maskMessages(data: unknown): unknown {
  return JSON.parse(
    JSON.stringify(data, (key, value: unknown) => {
      if (typeof value !== "string") return value;
      return key === "message" ? maskMessage(value) : maskText(value);
    }),
  );
}

/** Every text of a value is a message. */
export function maskTexts(data: unknown): unknown {
  return JSON.parse(
    JSON.stringify(data, (_key, value: unknown) => (typeof value === "string" ? maskMessage(value) : value)),
  );
}

/** Each line of a log is a message. */
export function maskLog(text: string): string {
  return text.split("\n").map(maskMessage).join("\n");
}

/**
 * Members of volume sources that say what it is, and hold no text that a driver or server reads. All others are masked.
 */
const SHOWN_IN_VOLUMES = new Set([
  ...["name", "defaultMode", "mode", "optional", "readOnly", "medium", "sizeLimit", "type", "path", "fsType", "driver"],
  ...[
    "claimName",
    "secretName",
    "items",
    "key",
    "sources",
    "configMap",
    "secret",
    "downwardAPI",
    "serviceAccountToken",
  ],
  ...["fieldRef", "fieldPath", "resourceFieldRef", "containerName", "resource", "pullPolicy", "expirationSeconds"],
]);
/** Sources of which only the names above stay. */
const SHOWN_SOURCES = new Set([
  ...["emptyDir", "hostPath", "configMap", "secret", "projected", "downwardAPI", "persistentVolumeClaim", "csi"],
  "flexVolume",
]);

function maskVolume(volume: unknown): unknown {
  if (!isRecord(volume)) return MASK;
  return Object.fromEntries(
    Object.entries(volume).map(([member, source]) => {
      if (member === "name") return [member, source];
      return [member, SHOWN_SOURCES.has(member) ? known(source) : MASK];
    }),
  );
}

function known(source: unknown): unknown {
  if (Array.isArray(source)) return source.map(known);
  if (!isRecord(source)) return source;
  const entries = Object.entries(source).map(([member, value]) => [
    member,
    SHOWN_IN_VOLUMES.has(member) ? known(value) : MASK,
  ]);
  return Object.fromEntries(entries);
}

/** Maps with values that anybody may choose: their keys stay. */
const VALUE_MAPS = new Set(["annotations", "labels", "matchLabels"]);
const VALUE_LISTS = new Set(["args", "command", "values"]);

/**
 * Values of environment variables, labels, annotations, commands and volume sources may hold anything: only their names
 * stay. So does what containers have written.
 */
export function maskPod(pod: Pod): unknown {
  return JSON.parse(
    JSON.stringify(pod, (key, value: unknown) => {
      if (VALUE_MAPS.has(key) && isRecord(value)) {
        return Object.fromEntries(Object.keys(value).map((name) => [name, MASK]));
      }
      if (key === "env" && Array.isArray(value)) return value.map(maskVariable);
      if (VALUE_LISTS.has(key) && Array.isArray(value)) return value.map(() => MASK);
      if (key === "volumes" && Array.isArray(value)) return value.map(maskVolume);
      if (key === "httpHeaders") return MASK;
      // A termination message is a file of the container.
      if (key === "terminated" && isRecord(value) && "message" in value) return { ...value, message: MASK };
      if (typeof value !== "string") return value;
      return key === "message" ? maskMessage(value) : maskText(value);
    }),
  );
}

function maskVariable(variable: unknown): unknown {
  return isRecord(variable) && "value" in variable ? { ...variable, value: MASK } : variable;
}
