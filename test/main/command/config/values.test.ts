// Zero values, nulls and bounds of KubeletConfiguration against upstream: test/facts/config-values.jsonl has, for each field and value, whether
// the decoding and validation of Kubernetes 1.36 refuse it. (It was recorded with failCgroupV1: false and a runtime endpoint.)
import { deepEqual, ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isSettingsError } from "../../../../src/main/command/errors.js";
import { loadSettings } from "../../../../src/main/command/settings.js";
import { CONFIG_FILE, filesOf, ioOf } from "../../../support/config-kit.js";

/** Refused here at once: upstream's validation passes them. */
const STRICTER: Readonly<Record<string, readonly string[]>> = {
  "a value that upstream refuses later in its start, when it makes the manager, the server or the client": [
    ...["authorization.mode", "cgroupDriver", "configMapAndSecretChangeDetectionStrategy", "containerLogMaxSize"],
    ...["containerRuntimeEndpoint", "cpuManagerPolicy", "cpuManagerPolicyOptions", "evictionHard"],
    ...["evictionMinimumReclaim", "evictionSoft", "evictionSoftGracePeriod", "imageServiceEndpoint", "kubeReserved"],
    ...["memoryManagerPolicy", "qosReserved", "systemReserved", "tlsCipherSuites", "tlsMinVersion"],
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
    if (isSettingsError(error)) return false;
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
