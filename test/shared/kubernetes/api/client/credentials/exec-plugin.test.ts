import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { ExecConfig } from "../../../../../../src/shared/kubernetes/api/client/config.js";
import { CredentialError } from "../../../../../../src/shared/kubernetes/api/client/credentials/errors.js";
import { execInfo } from "../../../../../../src/shared/kubernetes/api/client/credentials/exec/exec-credential.js";
import { ExecPlugin } from "../../../../../../src/shared/kubernetes/api/client/credentials/exec/exec-plugin.js";
import { runCommand } from "../../../../../../src/shared/kubernetes/api/client/credentials/exec/run-command.js";
import { until } from "../../../../../support/sources-kit.js";
import { SteppedClock } from "../../../../../support/stepped-clock.js";
import { certFolder } from "../../../../../support/test-certs.js";
import { counting, credential, dir, script, V1 } from "./exec-kit.js";

const CONFIG = { origin: "k", server: "https://10.0.0.1" };
const pluginOf = (exec: ExecConfig, clock = new SteppedClock()): ExecPlugin => new ExecPlugin(exec, CONFIG, clock);

describe("a credential plugin", () => {
  it("receives the cluster and its environment", async () => {
    const exec = await script(
      `echo "$KUBERNETES_EXEC_INFO|$OWN|$1|$PATH" > ${dir}/told; echo '${credential({ token: "t" })}'`,
      {
        env: [{ name: "OWN", value: "x y" }],
        args: ["get"],
        provideClusterInfo: true,
        clusterConfig: { audience: "a" },
      },
    );
    const config = { ...CONFIG, certificateAuthority: { data: "PEM" }, tlsServerName: "kube" };
    await new ExecPlugin(exec, config, new SteppedClock()).current();
    const [info = "", ...rest] = (await readFile(join(dir, "told"), "utf8")).trim().split("|");
    deepEqual(rest, ["x y", "get", process.env["PATH"]]);
    deepEqual(JSON.parse(info), {
      kind: "ExecCredential",
      apiVersion: V1,
      spec: {
        interactive: false,
        cluster: {
          server: "https://10.0.0.1",
          "tls-server-name": "kube",
          "certificate-authority-data": "UEVN",
          config: { audience: "a" },
        },
      },
    });
    deepEqual(JSON.parse(execInfo({ ...exec, provideClusterInfo: false }, config, undefined)), {
      kind: "ExecCredential",
      apiVersion: V1,
      spec: { interactive: false },
    });
  });

  it("is not run when it needs a terminal", async () => {
    const exec = await script(`echo run > ${dir}/asked; echo '${credential({ token: "t" })}'`, { needsTerminal: true });
    await rejects(pluginOf(exec).current(), (error) => {
      ok(error instanceof CredentialError);
      match(error.message, /needs a terminal$/);
      return true;
    });
    await rejects(readFile(join(dir, "asked")), { code: "ENOENT" });
  });

  it("reports the age of a certificate that is replaced", async (t) => {
    const certs = await certFolder();
    t.after(() => certs.remove());
    const ca = await certs.ca("plugins");
    const file = join(dir, "rotated.json");
    const exec = await script(`cat ${file}`);
    const clock = new SteppedClock();
    const ages: number[] = [];
    const plugin = new ExecPlugin(exec, CONFIG, clock, { onRotated: (ageMs) => void ages.push(ageMs) });
    const pairs = [await ca.issue("/CN=one"), await ca.issue("/CN=two")];
    for (const { cert, key } of pairs) {
      const status = { clientCertificateData: cert, clientKeyData: key };
      await writeFile(file, credential(status));
      await plugin.current();
      plugin.refused();
    }
    const issuedAt = Date.parse(new X509Certificate(pairs[0]?.cert ?? "").validFrom);
    deepEqual(ages, [clock.now() - issuedAt]);
  });

  it("runs once for all callers, and again when its credentials end or are refused", async () => {
    const clock = new SteppedClock();
    const { exec, runs } = await counting("1970-01-01T01:00:00Z");
    const plugin = pluginOf(exec, clock);
    const first = await Promise.all([plugin.current(), plugin.current()]);
    deepEqual(
      first.map(({ token }) => token),
      ["secret-1", "secret-1"],
    );
    clock.step(3_599_999);
    equal((await plugin.current()).token, "secret-1");
    plugin.refused();
    ok(plugin.isDue);
    equal((await plugin.current()).token, "secret-2");
    clock.step(1);
    equal((await plugin.current()).token, "secret-3");
    // Ended before it began: no run for each call.
    ok(!plugin.isDue);
    equal((await plugin.current()).token, "secret-3");
    clock.step(5000);
    equal((await plugin.current()).token, "secret-4");
    equal(await runs(), 4);
    equal(clock.pending, 0);
  });

  it("pauses when it returns refused credentials again", async () => {
    const clock = new SteppedClock();
    const plugin = pluginOf(await script(`echo '${credential({ token: "same" })}'`), clock);
    await plugin.current();
    plugin.refused();
    await plugin.current();
    plugin.refused();
    ok(!plugin.isDue);
    clock.step(5000);
    ok(plugin.isDue);
  });

  it("that fails pauses, and its earlier credentials are used until they expire", async () => {
    const clock = new SteppedClock();
    const file = join(dir, "works");
    await writeFile(file, "");
    const good = credential({ token: "good", expirationTimestamp: "1970-01-01T00:01:00Z" });
    const exec = await script(`[ -e ${file} ] || { echo no >> ${dir}/noes; exit 3; }; echo '${good}'`);
    const plugin = pluginOf(exec, clock);
    await plugin.current();
    await rm(file);
    plugin.refused();
    await rejects(plugin.current(), /failed with exit status 3$/);
    equal((await plugin.current()).token, "good");
    clock.step(60_000);
    await rejects(plugin.current(), /exit status 3/);
    await rejects(plugin.current(), /exit status 3/);
    equal(await readFile(join(dir, "noes"), "utf8"), "no\nno\n");
    await writeFile(file, "");
    clock.step(5000);
    equal((await plugin.current()).token, "good");
  });
});

describe("a run of a plugin that fails", () => {
  const clock = new SteppedClock();
  const failing = async (exec: ExecConfig, text: RegExp): Promise<void> => {
    await rejects(pluginOf(exec, clock).current(), (error: Error) => {
      ok(error instanceof CredentialError);
      match(error.message, text);
      return true;
    });
  };

  it("names the way to install a missing plugin", async () => {
    const exec = { ...(await script("")), command: join(dir, "nowhere") };
    await failing(exec, /^the credential plugin .*nowhere is not there\ninstall it from example.org$/);
    await failing({ ...exec, command: "no-such-plugin-anywhere" }, /no-such-plugin-anywhere is not there/);
  });

  it("shows its standard error", async () => {
    await failing(await script("echo sorry >&2; exit 7"), /failed with exit status 7: sorry$/);
    await failing(await script("kill -9 $$"), /was killed by SIGKILL$/);
  });

  it("that never responds is killed", async () => {
    const running = runCommand(await script("exec sleep 1000"), "{}", clock);
    const failed = rejects(running, (error: Error) => {
      ok(error instanceof CredentialError);
      match(error.message, /^the credential plugin .* gave no response within 60 s, killed$/);
      return true;
    });
    await until(() => clock.pending > 0);
    clock.step(60_000);
    await failed;
    equal(clock.pending, 0);
  });
});
