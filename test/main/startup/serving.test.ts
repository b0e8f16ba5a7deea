// What the agent's server is given at the start: a certificate, and somebody to ask about clients.
import { deepEqual, doesNotThrow, equal, match, throws } from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { checkServerAuth, type ServerAuthSettings } from "../../../src/main/startup/server-auth.js";
import {
  makeServingCertificate,
  servingFiles,
  type ServingSettings,
} from "../../../src/main/startup/serving-certificate.js";
import { keptLog, temporaryFolder } from "../../support/sources-kit.js";
import { SteppedClock } from "../../support/stepped-clock.js";

const SETTINGS: ServingSettings = {
  enableServer: true,
  certDir: "/pki",
  tlsCertFile: "",
  tlsPrivateKeyFile: "",
  serverTLSBootstrap: false,
  kubeconfig: "",
};

test("files that were given win; else the cluster's, else a pair of our own", () => {
  const own = { certFile: "/pki/kubelet.crt", keyFile: "/pki/kubelet.key", selfSigned: true };
  const signed = {
    certFile: "/pki/kubelet-server-current.pem",
    keyFile: "/pki/kubelet-server-current.pem",
    selfSigned: false,
  };
  const given = { certFile: "/a.crt", keyFile: "/a.key", selfSigned: false };
  deepEqual(servingFiles(SETTINGS), own);
  deepEqual(servingFiles({ ...SETTINGS, serverTLSBootstrap: true }), own);
  deepEqual(servingFiles({ ...SETTINGS, serverTLSBootstrap: true, kubeconfig: "/k" }), signed);
  const files = { tlsCertFile: "/a.crt", tlsPrivateKeyFile: "/a.key" };
  deepEqual(servingFiles({ ...SETTINGS, ...files, serverTLSBootstrap: true, kubeconfig: "/k" }), given);
});

describe("the pair of our own", () => {
  const open = async (
    t: { after(fn: () => Promise<void>): void },
    settings: Partial<ServingSettings>,
    answer: () => Promise<object>,
  ) => {
    const certDir = join(await temporaryFolder(t as never), "pki");
    const clock = new SteppedClock();
    const jobs: string[] = [];
    const { log, lines } = keptLog();
    const run = ((name: string) => {
      jobs.push(name);
      return answer();
    }) as never;
    const end = makeServingCertificate(
      { ...SETTINGS, certDir, ...settings },
      { nodeName: "n", nodeIPs: [], tasks: { run }, clock, log },
    );
    return { certDir, clock, jobs, lines, end };
  };
  const until = async (condition: () => Promise<boolean> | boolean): Promise<void> => {
    while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
  };

  test("is made in a while, in a folder that is made too", async (t) => {
    const { certDir, clock, jobs } = await open(t, {}, () => Promise.resolve({ certificate: "C", key: "K" }));
    equal(jobs.length, 0);
    clock.step(500);
    await until(async () => (await readFile(join(certDir, "kubelet.crt"), "utf8").catch(() => "")) === "C");
    deepEqual(jobs, ["makeSelfSigned"]);
  });
  test("is nobody's business when files are given or there is no server", async (t) => {
    for (const settings of [{ tlsCertFile: "/a", tlsPrivateKeyFile: "/b" }, { enableServer: false }]) {
      const { clock } = await open(t, settings, () => Promise.reject(new Error("asked")));
      equal(clock.pending, 0);
    }
  });
  test("that cannot be made is told, and what to do", async (t) => {
    const { clock, lines } = await open(t, {}, () => Promise.reject(new Error("no pool")));
    clock.step(500);
    await until(() => lines.length > 0);
    match(JSON.stringify(lines), /authenticated port stays closed; give one with tlsCertFile/);
  });
  test("is not begun after the end", async (t) => {
    const { clock, end } = await open(t, {}, () => Promise.reject(new Error("asked")));
    end();
    equal(clock.pending, 0);
  });
});

test("a stand-alone node has no API server to ask", () => {
  const settings = (
    webhook: boolean,
    mode: "Webhook" | "AlwaysAllow",
    more: Partial<ServerAuthSettings> = {},
  ): ServerAuthSettings => ({
    enableServer: true,
    kubeconfig: "",
    authentication: { webhook },
    authorization: { mode },
    ...more,
  });
  throws(
    () => checkServerAuth(settings(true, "AlwaysAllow")),
    /^ServerAuthError: no client provided, cannot use webhook authentication/,
  );
  throws(
    () => checkServerAuth(settings(false, "Webhook")),
    /^ServerAuthError: no client provided, cannot use webhook authorization/,
  );
  doesNotThrow(() => checkServerAuth(settings(false, "AlwaysAllow")));
  doesNotThrow(() => checkServerAuth(settings(true, "Webhook", { enableServer: false })));
  doesNotThrow(() => checkServerAuth(settings(true, "Webhook", { kubeconfig: "/k" })));
});
