// The file of users who may only look, and their kubeconfigs.

import { deepEqual, equal } from "node:assert/strict";
import { copyFile, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setImmediate as nextRound } from "node:timers/promises";
import { makeCredentials, updateReaders, type CredentialsDeps } from "../../../src/main/node/api-server/credentials.js";
import { apiServerFiles, type ApiServerFiles } from "../../../src/main/node/api-server/paths.js";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import { Readers } from "../../../src/workers/apiserver/readers.js";
import { describeCertificate, issueCertificates } from "../../../src/workers/tasks/certificates/certificate-jobs.js";
import { waitFor } from "../../../tools/standalone/wait.js";
import { SteppedClock } from "../../support/stepped-clock.js";

const quiet = (): void => undefined;
const log = { info: quiet, warn: quiet };

async function folder(t: TestContext): Promise<{ files: ApiServerFiles; deps: CredentialsDeps }> {
  const root = await mkdtemp(join(tmpdir(), "readers-"));
  t.after(() => rm(root, { recursive: true }));
  const files = apiServerFiles(root);
  const deps: CredentialsDeps = {
    ...{ files, nodeName: "node-1", address: "127.0.0.1", port: 6443, clock: systemClock, log },
    withTasks: (work) =>
      work({ describe: (pem) => Promise.resolve(describeCertificate({ pem })), issue: issueCertificates }),
  };
  await makeCredentials(deps);
  return { files, deps };
}

test("a reader who was taken out while no server ran loses the kubeconfig, and no other file goes", async (t) => {
  const { files, deps } = await folder(t);
  await updateReaders(deps, ["gone", "stays"]);
  await copyFile(files.admin, join(files.directory, "copy.kubeconfig"));
  await copyFile(join(files.directory, "gone.kubeconfig"), join(files.directory, "renamed.kubeconfig"));
  await writeFile(join(files.directory, "text.kubeconfig"), "users: []\n");
  await updateReaders(deps, ["stays"]);
  const left = (await readdir(files.directory)).filter((name) => name.endsWith(".kubeconfig"));
  const others = ["admin", "copy", "kubelet", "renamed", "stays", "text"];
  deepEqual(
    left.sort(),
    others.map((name) => `${name}.kubeconfig`),
  );
});

test("an update of kubeconfigs that failed is repeated until it succeeds, and logged once", async (t) => {
  const { files } = await folder(t);
  await writeFile(files.readers, "reader\n");
  const clock = new SteppedClock();
  let warnings = 0;
  let updates = 0;
  const update = async (names: string[]): Promise<void> => {
    deepEqual(names, ["reader"]);
    await nextRound();
    if (++updates < 3) throw new Error("no space left on device");
  };
  const readers = new Readers({ path: files.readers, clock, log: { warn: () => warnings++ }, onChange: quiet, update });
  await readers.start();
  for (const count of [1, 2, 3]) {
    await waitFor(() => updates === count, { what: `update ${count}` });
    await nextRound();
    clock.step(5000);
  }
  await nextRound();
  clock.step(20_000);
  await nextRound();
  equal(updates, 3);
  equal(warnings, 1);
  readers.close();
  equal(clock.pending, 0);
});
