// Zero values, nulls and bounds of KubeletConfiguration against upstream: test/facts/config-values.jsonl has, for each
// field and value, whether the decoding and validation of Kubernetes 1.36 refuse it, and otherwise what defaulting and
// conversion change in the configuration. (It was recorded with failCgroupV1: false and a runtime endpoint.)

import { deepEqual, ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { SettingsError } from "../../../../src/main/command/errors.js";
import { loadSettings } from "../../../../src/main/command/settings.js";
import { CONFIG_FILE, filesOf, ioOf, resolveSources } from "../../../support/config-kit.js";

/** Refused here at once: upstream's validation passes them. */
const STRICTER: Readonly<Record<string, readonly string[]>> = {
  "a value that upstream refuses later in its start, when it makes the manager, the server or the client": [
    ...["allowedUnsafeSysctls", "authorization.mode", "cgroupDriver", "configMapAndSecretChangeDetectionStrategy"],
    "containerLogMaxSize",
    ...["containerRuntimeEndpoint", "cpuManagerPolicy", "cpuManagerPolicyOptions", "evictionHard"],
    ...["evictionMinimumReclaim", "evictionSoft", "evictionSoftGracePeriod", "imageServiceEndpoint", "kubeReserved"],
    ...["memoryManagerPolicy", "qosReserved", "systemReserved", "tlsCipherSuites", "tlsMinVersion"],
  ],
  "a gate or curve without a name, which upstream refuses when it sets the gates and opens the port": [
    ...["featureGates", "tlsCurvePreferences"],
  ],
  "no address to listen on": ["address", "healthzBindAddress"],
  "no URL: upstream fails to read it again and again": ["staticPodURL"],
  "a negative duration, which no timer takes": [
    ...["fileCheckFrequency", "httpCheckFrequency", "runtimeRequestTimeout", "syncFrequency"],
  ],
};

interface Row {
  path: string;
  /** As YAML. */
  value: string;
  error?: true;
  /** Beside the configuration of an empty file: a value of another text, or a field that is no longer there. */
  changes?: [path: string[], value?: unknown][];
}
const rows = readFileSync(join(import.meta.dirname, "../../../../../test/facts/config-values.jsonl"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Row);

function bodyOf({ path, value }: Row): string {
  const parts = path.split(".");
  return parts.map((part, depth) => `${"  ".repeat(depth)}${part}:`).join("\n") + ` ${value}\n`;
}

async function starts(row: Row): Promise<boolean> {
  try {
    const request = await loadSettings([`--config=${CONFIG_FILE}`], ioOf(filesOf({ file: bodyOf(row) }), {}));
    return request.action === "run";
  } catch (error) {
    if (error instanceof SettingsError) return false;
    throw error;
  }
}

test("a start takes what upstream takes", async () => {
  ok(rows.length > 3000);
  const refused = new Set<string>();
  for (const row of rows) {
    if (row.error !== true && !(await starts(row))) refused.add(row.path);
  }
  deepEqual([...refused].sort(), Object.values(STRICTER).flat().sort());
});

/** Values of ours that are not upstream's. */
const OTHER_VALUES: Readonly<Record<string, readonly string[]>> = {
  "a path is relative to the folder of its file: upstream's loader makes it so after the step that was recorded": [
    ...["authentication.x509.clientCAFile", "resolvConf", "staticPodPath", "tlsCertFile", "tlsPrivateKeyFile"],
    "volumePluginDir",
  ],
  "an empty list or map, where upstream writes null": ["reservedMemory", "staticPodURLHeader"],
  "what a file without the field has is no default of upstream's decoding": ["evictionHard"],
  "the record was made with false": ["failCgroupV1"],
};

type Fields = Record<string, unknown>;

function withChanges(value: Fields, changes: NonNullable<Row["changes"]>): Fields {
  const copy = structuredClone(value);
  for (const [path, ...set] of changes) {
    let target = copy;
    for (const step of path.slice(0, -1)) target = (target[step] ??= {}) as Fields;
    const last = path.at(-1) ?? "";
    target[last] = set[0];
  }
  // Without undefined values.
  return JSON.parse(JSON.stringify(copy)) as Fields;
}

async function effective(file: string): Promise<Fields> {
  const { config } = await resolveSources({ file });
  return JSON.parse(JSON.stringify(config.toWireObject())) as Fields;
}

test("/configz shows each value as upstream's kubelet does", async () => {
  const base = await effective("");
  const other = new Set<string>();
  for (const row of rows) {
    if (row.error === true || !(await starts(row))) continue;
    try {
      deepEqual(await effective(bodyOf(row)), withChanges(base, row.changes ?? []));
    } catch {
      other.add(row.path);
    }
  }
  deepEqual([...other].sort(), Object.values(OTHER_VALUES).flat().sort());
});
