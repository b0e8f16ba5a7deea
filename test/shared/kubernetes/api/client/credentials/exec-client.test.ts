import { deepEqual, doesNotMatch, equal, match, rejects } from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { ApiError } from "../../../../../../src/shared/kubernetes/api/client/errors.js";
import { NODES } from "../../../../../../src/shared/kubernetes/api/client/kinds.js";
import { sendJson, sendStatus, type Answer } from "../../../../../support/api-server.js";
import { certFolder } from "../../../../../support/test-certs.js";
import { startRig } from "../client-kit.js";
import { counting, credential, dir, script } from "./exec-kit.js";

const NODE = { name: "n1" };

describe("a client with a plugin", () => {
  it("shows its token, and the next one when the server refuses it", async () => {
    const { exec, runs } = await counting();
    let wanted = "Bearer secret-1";
    const answer: Answer = ({ headers }, response) =>
      headers["authorization"] === wanted
        ? sendJson(response, {})
        : sendStatus(response, 401, "Unauthorized", "Unauthorized");
    await using rig = await startRig({ answer, config: { exec } });
    await Promise.all([rig.client.get(NODES, NODE), rig.client.get(NODES, NODE)]);
    equal(await runs(), 1);
    wanted = "Bearer secret-2";
    await rig.client.get(NODES, NODE);
    wanted = "nobody";
    await rejects(rig.client.get(NODES, NODE), (error) => error instanceof ApiError && error.status === 401);
    equal(await runs(), 3);
    deepEqual(rig.lines, []);
  });

  it("reports why there is no other credential", async () => {
    const file = join(dir, "once");
    const exec = await script(`[ -e ${file} ] && exit 4; : > ${file}; echo '${credential({ token: "secret" })}'`);
    const refuse: Answer = (_seen, response) => sendStatus(response, 401, "Unauthorized", "Unauthorized");
    await using rig = await startRig({ answer: refuse, config: { exec } });
    await rejects(rig.client.get(NODES, NODE), (error) => error instanceof ApiError && error.status === 401);
    match(
      rig.lines.join("\n"),
      /^The API server rejects the credentials, and no others are configured .*exit status 4$/,
    );
    doesNotMatch(rig.lines.join("\n"), /secret/);
  });

  it("connects with its certificate, and again with the next one", async () => {
    const certs = await certFolder();
    try {
      const ca = await certs.ca("cluster");
      const [pair, one, two] = await Promise.all([ca.issue("/CN=kube"), ca.issue("/CN=one"), ca.issue("/CN=two")]);
      const shown = join(dir, "shown");
      const show = ({ cert, key }: { cert: string; key: string }) =>
        writeFile(shown, credential({ clientCertificateData: cert, clientKeyData: key }));
      await show(one);
      let accepted = "one";
      const answer: Answer = ({ client }, response) =>
        client === accepted ? sendJson(response, {}) : sendStatus(response, 401, "Unauthorized", "Unauthorized");
      const config = { certificateAuthority: { data: ca.cert }, exec: await script(`cat ${shown}`) };
      await using rig = await startRig({ protocol: "h2", pair, clientCa: ca.cert, answer, config });
      await rig.client.get(NODES, NODE);
      await show(two);
      accepted = "two";
      await rig.client.get(NODES, NODE);
      deepEqual(
        rig.server.seen.map(({ client }) => client),
        ["one", "one", "two"],
      );
      equal(rig.server.connections, 2);
    } finally {
      await certs.remove();
    }
  });
});
