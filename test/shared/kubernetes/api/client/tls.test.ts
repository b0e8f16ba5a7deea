import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { CredentialError } from "../../../../../src/shared/kubernetes/api/client/credentials/errors.js";
import { ApiConnectionError } from "../../../../../src/shared/kubernetes/api/client/errors.js";
import { NODES } from "../../../../../src/shared/kubernetes/api/client/kinds.js";
import { sendJson, sendStatus, type Answer } from "../../../../support/api-server.js";
import { until } from "../../../../support/sources-kit.js";
import { SteppedClock } from "../../../../support/stepped-clock.js";
import { certFolder, type CertFolder, type TestCa, type TestPair } from "../../../../support/test-certs.js";
import { startRig } from "./client-kit.js";

let certs: CertFolder;
let ca: TestCa;
let serving: TestPair;
before(async () => {
  certs = await certFolder();
  ca = await certs.ca("cluster");
  serving = await ca.issue("/CN=kube-apiserver", { names: "IP:127.0.0.1,DNS:kube.example" });
});
after(() => certs.remove());

const echo: Answer = (_seen, response) => sendJson(response, {});
const NODE = { name: "n1" };
const isOfServer = (text: RegExp) => (error: Error) => {
  ok(error instanceof ApiConnectionError, String(error));
  match(error.message, text);
  return true;
};

for (const protocol of ["h2", "https"] as const) {
  describe(`TLS with ${protocol}`, () => {
    const rigWith = (config: object, pair = serving, answer = echo, clock?: SteppedClock) =>
      startRig({ protocol, pair, clientCa: ca.cert, answer, config, ...(clock === undefined ? {} : { clock }) });

    it("trusts the cluster's CA and no other", async () => {
      const foreign = await certs.ca("foreign");
      await using rig = await rigWith({ certificateAuthority: { data: foreign.cert } });
      await rejects(
        rig.client.get(NODES, NODE),
        isOfServer(/another CA than certificate-authority signed its certificate/),
      );
      await using careless = await rigWith({ insecureSkipTlsVerify: true });
      await careless.client.get(NODES, NODE);
    });

    it("trusts an intermediate CA whose issuer it does not know", async () => {
      const intermediate = await ca.intermediate("intermediate");
      const pair = await intermediate.issue("/CN=kube-apiserver");
      await using rig = await rigWith({ certificateAuthority: { data: intermediate.cert } }, pair);
      await rig.client.get(NODES, NODE);
    });

    it("trusts the machine's CAs where the kubeconfig names none", async (t) => {
      await using stranger = await rigWith({});
      await rejects(stranger.client.get(NODES, NODE), ApiConnectionError);
      const before = process.env["SSL_CERT_FILE"];
      process.env["SSL_CERT_FILE"] = ca.certFile;
      t.after(() => {
        if (before === undefined) delete process.env["SSL_CERT_FILE"];
        else process.env["SSL_CERT_FILE"] = before;
      });
      await using rig = await rigWith({});
      await rig.client.get(NODES, NODE);
    });

    it("refuses a server certificate without subjectAltName", async () => {
      const nameless = await ca.issue("/CN=127.0.0.1", { names: "" });
      await using rig = await rigWith({ certificateAuthority: { file: ca.certFile } }, nameless);
      await rejects(rig.client.get(NODES, NODE), isOfServer(/no subjectAltName/));
    });

    it("wants the server's name, or tls-server-name, in the certificate", async () => {
      const elsewhere = await ca.issue("/CN=kube-apiserver", { names: "DNS:kube.example" });
      await using rig = await rigWith({ certificateAuthority: { file: ca.certFile } }, elsewhere);
      await rejects(rig.client.get(NODES, NODE), isOfServer(/set tls-server-name/));
      const named = { certificateAuthority: { file: ca.certFile }, tlsServerName: "kube.example" };
      await using right = await rigWith(named, elsewhere);
      await right.client.get(NODES, NODE);
    });

    it("shows its certificate, and the new one when the file is turned", async () => {
      const clock = new SteppedClock();
      const current = join(certs.dir, `${protocol}-current.pem`);
      const turnTo = async (name: string): Promise<void> => {
        const { cert, key } = await ca.issue(`/O=system:nodes/CN=${name}`);
        const file = join(certs.dir, `${protocol}-${name}.pem`);
        await writeFile(file, `${cert}${key}`);
        await symlink(file, `${current}.new`);
        await rename(`${current}.new`, current);
      };
      await turnTo("first");
      const source = { file: current };
      await using rig = await rigWith(
        { certificateAuthority: { data: ca.cert }, clientCertificate: { certificate: source, key: source } },
        serving,
        echo,
        clock,
      );
      const { client, server } = rig;
      const whoAmI = async () => {
        await client.get(NODES, NODE);
        return server.seen.at(-1)?.client;
      };
      equal(await whoAmI(), "first");
      await turnTo("second");
      equal(await whoAmI(), "first", "not looked at between two looks");
      await client.reload();
      equal(await whoAmI(), "second");
      await turnTo("third");
      const [old] = server.sockets;
      clock.step(60_000);
      while ((await whoAmI()) !== "third");
      clock.step(5000);
      await until(() => old?.destroyed !== false);
      equal(server.sockets.size, 1);

      await writeFile(join(certs.dir, `${protocol}-third.pem`), "half of");
      await client.reload();
      equal(await whoAmI(), "third", "what can't be used changes nothing");
      match(rig.lines.join(), /Cannot use the new client credentials/);
    });

    it("shows the certificate that was renewed as long as that is good, else the kubeconfig's", async () => {
      const clock = new SteppedClock();
      clock.jump(Date.now());
      const renewedCertificate = join(certs.dir, `${protocol}-renewed.pem`);
      const own = await ca.issue("/O=system:nodes/CN=own");
      const config = {
        certificateAuthority: { data: ca.cert },
        clientCertificate: { certificate: { data: own.cert }, key: { data: own.key } },
        renewedCertificate,
      };
      await using rig = await rigWith(config, serving, echo, clock);
      const { client, server } = rig;
      const whoAmI = async () => {
        await client.reload();
        await client.get(NODES, NODE);
        return server.seen.at(-1)?.client;
      };
      equal(await whoAmI(), "own", "there is none yet");
      const { cert, key } = await ca.issue("/O=system:nodes/CN=renewed", { days: 1 });
      for (const half of [cert, key, "neither"]) {
        await writeFile(renewedCertificate, half);
        equal(await whoAmI(), "own");
      }
      await writeFile(renewedCertificate, `${cert}${key}`);
      equal(await whoAmI(), "renewed");
      clock.jump(25 * 3_600_000);
      equal(await whoAmI(), "own", "it has expired");
    });

    it("says which file is missing", async () => {
      await using rig = await rigWith({ certificateAuthority: { file: "/nowhere/ca.crt" } });
      await rejects(rig.client.get(NODES, NODE), (error: Error) => {
        ok(error instanceof CredentialError);
        match(error.message, /^the certificate authority \/nowhere\/ca.crt can't be read: ENOENT/);
        return true;
      });
    });

    it("tries once more with a token that was rotated, and only once", async () => {
      const file = join(certs.dir, `${protocol}-token`);
      await writeFile(file, "one\n");
      const answer: Answer = ({ headers }, response) => {
        if (headers["authorization"] === "Bearer two") sendJson(response, {});
        else sendStatus(response, 401, "Unauthorized", "Unauthorized");
      };
      await using rig = await rigWith({ certificateAuthority: { data: ca.cert }, tokenFile: file }, serving, answer);
      await rejects(rig.client.get(NODES, NODE), { status: 401, reason: "Unauthorized" });
      equal(rig.server.seen.length, 1);
      await writeFile(file, "two");
      await rig.client.get(NODES, NODE);
      deepEqual(
        rig.server.seen.map(({ headers }) => headers["authorization"]),
        ["Bearer one", "Bearer one", "Bearer two"],
      );
    });
  });
}

it("says that the other side does not speak TLS", async () => {
  await using plain = await startRig({ answer: echo });
  await using rig = await startRig({ answer: echo, config: { server: plain.server.url.replace("http:", "https:") } });
  await rejects(rig.client.get(NODES, NODE), isOfServer(/http/));
});

it("carries a password, and the impersonated user", async () => {
  await using rig = await startRig({
    answer: echo,
    config: {
      basic: { username: "me", password: "ä" },
      impersonate: { user: "you", uid: "u", groups: ["a", "b"], extra: { "Why Not": ["x"] } },
    },
  });
  await rig.client.get(NODES, NODE);
  const headers = rig.server.seen[0]?.headers ?? {};
  equal(headers["authorization"], `Basic ${Buffer.from("me:ä").toString("base64")}`);
  equal(headers["impersonate-user"], "you");
  equal(headers["impersonate-uid"], "u");
  equal(headers["impersonate-group"], "a, b");
  equal(headers["impersonate-extra-why%20not"], "x");
});
