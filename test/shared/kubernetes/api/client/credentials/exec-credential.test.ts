import { deepEqual, doesNotMatch, match, throws } from "node:assert/strict";
import { describe, it } from "node:test";
import type { ExecConfig } from "../../../../../../src/shared/kubernetes/api/client/config.js";
import { readExecCredential } from "../../../../../../src/shared/kubernetes/api/client/credentials/exec/exec-credential.js";
import { credential, V1 } from "./exec-kit.js";

describe("a response of a plugin", () => {
  const exec: ExecConfig = {
    apiVersion: V1,
    command: "p",
    args: [],
    env: [],
    installHint: "",
    provideClusterInfo: false,
  };
  const read = (text: string) => readExecCredential(text, exec);

  for (const [name, text, why] of [
    ["a word", "SECRET", /printed no ExecCredential of/],
    ["no YAML", "SECRET: [", /printed neither JSON nor YAML$/],
    ["half a JSON", '{"token":"SECRET"', /printed no JSON$/],
    ["null", "null", /printed no ExecCredential of client.authentication.k8s.io\/v1:/],
    [
      "of another version",
      credential({ token: "SECRET" }, "client.authentication.k8s.io/v1beta1"),
      /no ExecCredential of/,
    ],
    [
      "without status",
      '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"}',
      /neither status.token/,
    ],
    ["with neither", credential({}), /neither status.token nor a client certificate$/],
    ["with half a pair", credential({ clientKeyData: "SECRET" }), /client certificate or key without the other$/],
    ["with a token that is no string", credential({ token: { SECRET: 1 } }), /status.token that is no string$/],
    ["with a token of two lines", credential({ token: "SECRET\nx" }), /unprintable/],
    ["with no time", credential({ token: "SECRET", expirationTimestamp: "SECRET" }), /no time of RFC 3339$/],
  ] as const) {
    it(`${name} is refused, and not shown`, () => {
      throws(
        () => read(text),
        (error: Error) => {
          match(error.message, why);
          doesNotMatch(`${error.message} ${String(error.cause)} ${error.stack ?? ""}`, /SECRET/);
          return true;
        },
      );
    });
  }

  it("may be YAML, as client-go reads it", () => {
    const text = `# a comment\napiVersion: ${V1}\nkind: ExecCredential\nstatus:\n  token: "123"\n  clientKeyData:\n`;
    deepEqual(read(text), { token: "123", pair: undefined, expiresAt: undefined });
  });

  it("may have a token, a pair, or both", () => {
    const time = "2030-01-01T00:00:00Z";
    deepEqual(read(credential({ token: "t" })), { token: "t", pair: undefined, expiresAt: undefined });
    deepEqual(
      read(credential({ token: null, clientCertificateData: "c", clientKeyData: "k", expirationTimestamp: time })),
      { token: undefined, pair: { cert: "c", key: "k" }, expiresAt: Date.parse(time) },
    );
  });
});
