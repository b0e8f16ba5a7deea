// tokenAttributes of a credential provider: the allowed configuration, and errors with their place.

import assert from "node:assert/strict";
import { test } from "node:test";
import { readProviderConfig } from "../../../../src/main/containers/images/credential-providers/read-config.js";

const GOOD = `apiVersion: kubelet.config.k8s.io/v1
kind: CredentialProviderConfig
providers:
- name: plugin
  matchImages: [registry.example]
  defaultCacheDuration: 1m
  apiVersion: credentialprovider.kubelet.k8s.io/v1
  tokenAttributes:
    serviceAccountTokenAudience: registry
    cacheType: ServiceAccount
    requireServiceAccount: true
    requiredServiceAccountAnnotationKeys: [example.com/tenant]
    optionalServiceAccountAnnotationKeys: [example.com/Role, plain]
`;
const read = (text: string, tokensAllowed = true) => readProviderConfig(text, { file: "c.yaml", tokensAllowed });

test("all that can be said of tokens", () => {
  const { providers, problems } = read(GOOD);
  assert.deepEqual(problems, []);
  assert.deepEqual(providers[0]?.tokenAttributes, {
    serviceAccountTokenAudience: "registry",
    cacheType: "ServiceAccount",
    requireServiceAccount: true,
    requiredServiceAccountAnnotationKeys: ["example.com/tenant"],
    optionalServiceAccountAnnotationKeys: ["example.com/Role", "plain"],
  });
  const short = GOOD.replace(/ {4}\w+AnnotationKeys.*\n/g, "").replace("cacheType: ServiceAccount", "cacheType: Token");
  const token = read(short);
  assert.deepEqual(token.problems, []);
  assert.deepEqual(token.providers[0]?.tokenAttributes?.requiredServiceAccountAnnotationKeys, []);
  assert.equal(token.providers[0].tokenAttributes.cacheType, "Token");
});

const broken: [what: string, from: string | RegExp, to: string, problem: RegExp][] = [
  ["no audience", /serviceAccountTokenAudience.*\n {4}/, "", /serviceAccountTokenAudience: is missing/],
  ["no cache type", /cacheType.*\n {4}/, "", /tokenAttributes\.cacheType: is missing/],
  [
    "no word on service accounts",
    "    requireServiceAccount: true\n",
    "",
    /requireServiceAccount: must be true or false/,
  ],
  [
    "a text for a truth",
    "ServiceAccount: true",
    'ServiceAccount: "true"',
    /requireServiceAccount: must be true or false/,
  ],
  [
    "a plugin of an older version",
    "credentialprovider.kubelet.k8s.io/v1",
    "credentialprovider.kubelet.k8s.io/v1beta1",
    /tokenAttributes: needs a plugin of apiVersion credentialprovider\.kubelet\.k8s\.io\/v1$/,
  ],
  [
    "an older configuration",
    "kubelet.config.k8s.io/v1",
    "kubelet.config.k8s.io/v1beta1",
    /tokenAttributes: is only known in files of apiVersion kubelet\.config\.k8s\.io\/v1$/,
  ],
  [
    "required keys of accounts that may be absent",
    "Account: true",
    "Account: false",
    /requiredServiceAccountAnnotationKeys: has a meaning only with requireServiceAccount$/,
  ],
  [
    "a key that is none",
    "[example.com/tenant]",
    '["example.com/ten ant"]',
    /^c.yaml:12:44: providers\[0\]\.tokenAttributes\.requiredServiceAccountAnnotationKeys\[0\]: "example.com\/ten ant" is no key of an annotation$/,
  ],
  ["a key twice", "plain]", "plain, plain]", /optionalServiceAccountAnnotationKeys\[2\]: "plain" is there twice$/],
  [
    "a key in both lists",
    "plain]",
    "example.com/tenant]",
    /optionalServiceAccountAnnotationKeys: "example.com\/tenant" is in requiredServiceAccountAnnotationKeys too/,
  ],
  [
    "keys that are no list",
    "[example.com/tenant]",
    "example.com/tenant",
    /requiredServiceAccountAnnotationKeys: must be a list of strings/,
  ],
  ["an unknown field", "cacheType:", "cacheTyp:", /cacheTyp: unknown field; did you mean cacheType\?/],
  ["no map", /tokenAttributes:[^]*/, "tokenAttributes: [1]\n", /tokenAttributes: must be a map of fields/],
];
for (const [what, from, to, problem] of broken) {
  test(`tokenAttributes with ${what} are refused`, () => {
    const text = GOOD.replace(from, to);
    assert.notEqual(text, GOOD);
    const { problems } = read(text);
    assert.ok(
      problems.some((each) => problem.test(each)),
      problems.join("\n"),
    );
  });
}

test("tokens need their gate", () => {
  const { problems } = read(GOOD, false);
  assert.deepEqual(problems, [
    "c.yaml:9:5: providers[0].tokenAttributes: needs the feature gate KubeletServiceAccountTokenForCredentialProviders",
  ]);
});
