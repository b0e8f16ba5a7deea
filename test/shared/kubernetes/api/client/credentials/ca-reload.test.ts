// Checks of the certificate authority's file, as rest_client_transport_ca_reload_total counts them.
// @promise Server: registered_metrics_total counts each metric once by stability level; rest_client_transport_* counts
//   clients, their connections and each check of the CA file; an empty or broken CA file changes nothing.
// @with test/shared/telemetry/metrics, test/integration/pod-server.test.ts

import { deepEqual, equal } from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, it } from "node:test";
import { Credentials } from "../../../../../../src/shared/kubernetes/api/client/credentials/credentials.js";
import type { CaReload } from "../../../../../../src/shared/telemetry/metrics/transport.js";
import { SteppedClock } from "../../../../../support/stepped-clock.js";
import { certFolder, type CertFolder } from "../../../../../support/test-certs.js";

let certs: CertFolder;
before(async () => {
  certs = await certFolder();
});
after(() => certs.remove());

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

it("counts what each check of the file found, and keeps the last authority that was good", async () => {
  const [first, second] = [(await certs.ca("first")).cert, (await certs.ca("second")).cert];
  const file = join(certs.dir, "rotated-ca.pem");
  await writeFile(file, first);
  const seen: string[] = [];
  const onCaChecked = ({ result, reason }: CaReload): void => void seen.push(`${result} ${reason}`);
  const config = { origin: "test", server: "https://127.0.0.1:1", certificateAuthority: { file } };
  const credentials = new Credentials(config, new SteppedClock(), log, { onCaChecked });
  equal((await credentials.current()).tls?.ca, first);
  equal(seen.length, 0, "the first read is no reload");
  const checks: [string, () => Promise<void>, string][] = [
    ["success unchanged", () => Promise.resolve(), first],
    ["success updated", () => writeFile(file, second), second],
    ["failure empty", () => writeFile(file, ""), second],
    [
      "failure ca_parse_error",
      () => writeFile(file, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
      second,
    ],
    ["failure read_error", () => rm(file), second],
  ];
  for (const [found, change, authority] of checks) {
    await change();
    await credentials.reload();
    const { tls } = await credentials.current();
    deepEqual([tls?.ca, seen.at(-1)], [authority, found]);
  }
  equal(seen.length, checks.length);
});

it("counts nothing for an authority that is no file", async () => {
  const seen: CaReload[] = [];
  const { cert } = await certs.ca("fixed");
  const config = { origin: "test", server: "https://127.0.0.1:1", certificateAuthority: { data: cert } };
  const credentials = new Credentials(config, new SteppedClock(), log, {
    onCaChecked: (check) => void seen.push(check),
  });
  await credentials.current();
  await credentials.reload();
  deepEqual(seen, []);
});
