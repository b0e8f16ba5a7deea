// Secrets in free text: logs, messages, command lines. No row leaves a part of its secret.

import { doesNotMatch, equal, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { maskText } from "../../../src/cli/bundle/mask-text.js";
import { maskLog } from "../../../src/cli/bundle/mask.js";
import { Secrets } from "../../../src/cli/bundle/secrets.js";

/** Each holds "s3cret" as often as it likes, and never after masking. */
const HOSTILE = [
  'password: "s3cret with s3cret blanks"',
  "password='s3cret with blanks s3cret'",
  String.raw`{"msg":"{\"password\":\"s3cret and s3cret\"}"}`,
  String.raw`x=\\\"token\\\": \\\"s3cret s3cret\\\" y`,
  "DB_PASSWORD=s3cret",
  "export MY_GITHUB_TOKEN_2=s3cret",
  "aws_secret_access_key = s3cret",
  "apiKey: s3cret",
  "api_key=>s3cret",
  "PassPhrase=s3cret",
  "PGPASSWORD=s3cret psql",
  "--token s3cret --v 4",
  "-password s3cret",
  '--registry-password "s3cret s3cret"',
  "Authorization: Bearer s3crets3cret",
  "authorization: Token s3cret",
  "Authorization: Digest username=s3cret, response=s3cret",
  "headers: map[Authorization:[Bearer s3cret s3cret] X:[y]]",
  "X-Auth-Key: s3cret",
  "set-cookie: sid=s3cret; path=/",
  "GET https://user:s3cret@host/x",
  "GET https://s3cret@host/x",
  "https://user:p@s3cret@host/",
  "proxy http://user:s3cret@[::1]:3128 failed",
  "https://host/x?sig=s3cret&b=1",
  "https://host/x?X-Amz-Signature=s3cret&X-Amz-Credential=s3cret%2F1",
  "https://host/?access_token=s3cret",
  "client-key-data: s3crets3cret==",
  '"identitytoken":"s3cret"',
  "token:s3cret",
  "-----BEGIN EC PRIVATE KEY-----\ns3cret\n",
  "-----BEGIN PRIVATE KEY-----\ns3cret\n-----END PRIVATE KEY-----",
];

describe("secrets in text", () => {
  for (const text of HOSTILE) {
    test(text.slice(0, 60), () => {
      ok(text.includes("s3cret"));
      doesNotMatch(maskText(text), /s3cret/);
      if (!text.includes("PRIVATE KEY")) doesNotMatch(maskLog(`a\n${text}\nb`), /s3cret/);
    });
  }

  for (const token of [
    "abcdef.0123456789abcdef",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "glpat-abcdefghij0123456789",
    "xoxb-123456789012-abcdefghijkl",
    "AKIAIOSFODNN7EXAMPLE",
    "dckr_pat_abcdefghijklmnop",
    "eyJhbGciOiJI.eyJzdWIiOiIx.sig-sig",
  ]) {
    test(`a token is known by its form: ${token.slice(0, 6)}`, () => {
      equal(maskText(`joined with ${token} now`), "joined with *** now");
    });
  }

  for (const text of [
    "an ordinary line",
    'Pulled image "docker-pullable://busybox@sha256:0123456789abcdef0123456789abcdef"',
    'MountVolume.SetUp failed: secret "registry" not found',
    "containerd.service: Main process exited, code=exited, status=1/FAILURE",
    "pod default/web_4e0f1a6e-0d6c-4b3b-a7a4-0d1c1e0f7a11 on 10.88.0.17:8080",
    "image registry.k8s.io/pause:3.10.1 at http://127.0.0.1:10248/healthz",
  ]) {
    test(`what is no secret stays: ${text.slice(0, 40)}`, () => equal(maskText(text), text));
  }

  test("masking leaves valid JSON valid JSON", () => {
    const text = JSON.stringify({ token: "a b", list: [{ "x-password": 'q"q' }], n: 1 });
    const masked = JSON.parse(maskText(text)) as unknown;
    equal(JSON.stringify(masked), '{"token":"***","list":[{"x-password":"***"}],"n":1}');
  });

  for (const [what, piece] of [
    ["JWT beginnings", "-eyJabcdefgh"],
    ["names", "token-"],
    ["open quotes", 'token="'],
    ["URLs", "a://b"],
    ["PEM heads", "-----BEGIN PRIVATE KEY----- "],
    ["schemes", "basic "],
  ] as const) {
    test(`a text of 2 MiB of ${what} is masked in linear time`, () => {
      // Quadratic time would take hours; the file's limit ends it.
      ok(maskText(piece.repeat((2 * 1024 * 1024) / piece.length)).length > 0);
    });
  }
});

test("a secret that one part names is masked wherever it stands, also in JSON; short ones are not looked for", () => {
  const secrets = new Secrets();
  for (const value of ["hunter2hunter2", 'with"quote', "short", "hunter2hunter2-longer"]) secrets.add(value);
  equal(secrets.mask('a hunter2hunter2 b "with\\"quote" hunter2hunter2-longer short'), 'a *** b "***" *** short');
});
