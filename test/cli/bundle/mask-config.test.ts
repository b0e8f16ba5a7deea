// Secrets in configuration files: TOML of containerd and CRI-O, JSON of Docker and CNI, YAML of the kubelet, unit
// files.

import { deepEqual, doesNotMatch, equal, match, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { maskConfig } from "../../../src/cli/bundle/mask-config.js";
import { maskUnit, maskVariablesFile } from "../../../src/cli/bundle/mask-unit.js";
import { Secrets } from "../../../src/cli/bundle/secrets.js";
import { readToml } from "../../../src/cli/runtime/toml.js";

type Row = readonly [what: string, form: "toml" | "json" | "yaml", text: string];

/** No row shows "s3cret", and each keeps "shown". */
const ROWS: readonly Row[] = [
  ["a registry's password", "toml", '[shown."reg.example:5000".auth]\nusername = "s3cret"\npassword = "s3cret"\n'],
  ["an inline table", "toml", 'shown = 1\nauth = { auth = "s3cret", identitytoken = "s3cret" }\n'],
  ["headers of a mirror", "toml", '[host."https://shown".header]\n  x-custom = ["s3cret", "s3cret"]\n'],
  ["a dotted name", "toml", 'shown.registry.token.value = "s3cret"\n'],
  ["a quoted name", "toml", 'shown = 1\n"pass word" = "s3cret"\n"pass-word" = "s3cret"\n'],
  ["a string of several lines", "toml", 'shown = 1\npassword = """\na\ns3cret\n"""\n'],
  ["a literal string", "toml", "shown = 1\nsecret = 's3cret'\nother = '''\nBearer s3cret-s3cret'''\n"],
  ["a comment", "toml", '# s3cret\nshown = 1 # password = "s3cret"\n'],
  ["an array of tables", "toml", '[[shown]]\ntoken = "s3cret"\n[[shown]]\ntoken = "s3cret"\n'],
  ["a list in a list", "toml", 'shown = 1\ncredentials = [["s3cret"], [{ a = "s3cret" }]]\n'],
  ["variables", "toml", 'shown = 1\nenv = ["A=s3cret", "s3cret"]\n'],
  ["a URL with a password", "toml", 'shown = "https://u:s3cret@host"\n'],
  ["an escaped name", "toml", 'shown = 1\n"pass\\u0077ord" = "s3cret"\n'],
  ["a number", "toml", 'shown = 1\npin_token = 5\n[[x]]\nkey = "s3cret"\n'],
  ["auths of Docker", "json", '{"shown":1,"auths":{"reg":{"auth":"s3cret","email":"s3cret"}}}'],
  ["names with a password", "json", '{"shown":{"https://u:s3cret@reg":1}}'],
  ["a proxy", "json", '{"shown":1,"proxies":{"http-proxy":"http://u:s3cret@p:1"}}'],
  ["a CNI token", "json", '{"name":"shown","plugins":[{"type":"x","k8s_auth_token":"s3cret","etcd_key":"s3cret"}]}'],
  ["an escaped member", "json", String.raw`{"shown":1,"pass\u0077ord":"s3cret"}`],
  ["JSON in a string", "json", JSON.stringify({ shown: 1, note: JSON.stringify({ password: "s3cret s3cret" }) })],
  ["numbers below a secret name", "json", '{"shown":1,"secrets":{"pin":[1,2,"s3cret"]}}'],
  ["a member called __proto__", "json", '{"shown":1,"__proto__":{"password":"s3cret"}}'],
  ["a static pod URL's headers", "yaml", "shown: 1\nstaticPodURLHeader:\n  X-A: [s3cret]\n"],
  ["a block scalar", "yaml", "shown: 1\npassword: |\n  a\n  s3cret\n"],
  ["an anchor", "yaml", "shown: 1\npassword: &p s3cret-s3cret\nother: {token: *p}\n"],
  ["a comment of YAML", "yaml", "shown: 1 # s3cret\n# s3cret\n"],
  ["a second document", "yaml", "shown: 1\n---\ntoken: s3cret\n"],
  ["a flow map", "yaml", "{shown: 1, auth: {a: s3cret}}\n"],
];

describe("secrets in configuration", () => {
  for (const [what, form, text] of ROWS) {
    test(`${what} (${form})`, () => {
      ok(text.includes("s3cret"));
      const masked = maskConfig(text, form, new Secrets());
      doesNotMatch(masked, /s3cret/);
      match(masked, /shown/);
    });
  }

  for (const [form, text] of [
    ["toml", 'password = "s3cret\n'],
    ["toml", "s3cret"],
    ["toml", "pin_token = 5s3cret\n"],
    ["toml", `a = ${"[".repeat(100)}s3cret`],
    ["json", '{"password": s3cret}'],
    ["json", '{"a": "s3cret'],
    ["yaml", "password: 's3cret"],
    ["yaml", `a: ${"[".repeat(5000)}s3cret`],
    [
      "yaml",
      "- &a0 [s3cret]\n" + Array.from({ length: 9 }, (_, n) => `- &a${n + 1} [${`*a${n}, `.repeat(9)}]\n`).join(""),
    ],
  ] as const) {
    test(`a text that cannot be read is left out, with no word of it: ${text.slice(0, 30)}`, () => {
      const masked = maskConfig(text, form, new Secrets());
      doesNotMatch(masked, /s3cret/);
      match(masked, /^\(left out: it is no valid [A-Z]+/);
    });
  }

  test("settings, paths of keys and switches stay", () => {
    const text =
      '{"cniVersion":"1.0.0","name":"net","plugins":[{"type":"bridge","isGateway":true,"kubeconfig":"/etc/cni/net.d/kubeconfig",' +
      '"token_file":"/var/run/token","auth":true,"ipam":{"type":"host-local","subnet":"10.88.0.0/16"}}]}';
    deepEqual(JSON.parse(maskConfig(text, "json", new Secrets())), JSON.parse(text));
    const yaml = "authentication:\n  anonymous:\n    enabled: false\nauthorization:\n  mode: AlwaysAllow\n";
    equal(maskConfig(yaml, "yaml", new Secrets()), yaml);
  });

  test("a masked value is masked in other texts, too; a user's name is not looked for", () => {
    const secrets = new Secrets();
    maskConfig('[auth]\nusername = "containerd"\npassword = "hunter2hunter2"\n', "toml", secrets);
    equal(secrets.mask("containerd: login with hunter2hunter2 failed"), "containerd: login with *** failed");
  });
});

test("TOML is read as containerd writes it", () => {
  const text = `version = 2
root = '/var/lib/containerd'
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "registry.k8s.io/pause:3.6" # why
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
    SystemdCgroup = false
[[stream]]
args = [
  "a", # first
  "b",
]
[[stream]]
inline = {x = 1, "y z" = "q"}
`;
  deepEqual(JSON.parse(JSON.stringify(readToml(text))), {
    version: 2,
    root: "/var/lib/containerd",
    plugins: {
      "io.containerd.grpc.v1.cri": {
        sandbox_image: "registry.k8s.io/pause:3.6",
        containerd: { runtimes: { runc: { options: { SystemdCgroup: false } } } },
      },
    },
    stream: [{ args: ["a", "b"] }, { inline: { x: 1, "y z": "q" } }],
  });
});

test("of a unit file variables keep their names, and the kubelet's flags stay", () => {
  const masked = maskUnit(
    [
      "# /lib/systemd/system/kubelet.service",
      "# s3cret",
      "[Service]",
      "Environment=\"FOO=s3cret s3cret\" BAR=s3cret 'BAZ=s3cret s3cret'",
      "Environment=ONE=s3cret \\",
      "  TWO=s3cret",
      'Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml --v=4"',
      'Environment="KUBELET_EXTRA_ARGS=--token s3cret --v=4"',
      "ExecStart=/usr/bin/kubelet --password=s3cret $KUBELET_CONFIG_ARGS",
      "SetCredential=x:s3cret",
    ].join("\n"),
  );
  doesNotMatch(masked, /s3cret/);
  for (const shown of [
    "# /lib/systemd/system/kubelet.service",
    "FOO=***",
    "BAZ=***",
    "TWO=***",
    "--config=/var/lib/kubelet/config.yaml --v=4",
    "--token *** --v=4",
  ])
    ok(masked.includes(shown), `${shown} is missing in\n${masked}`);
});

test("of a file of variables lines without a name are left out", () => {
  equal(
    maskVariablesFile('# s3cret\nFOO="a\ns3cret"\nexport BAR=s3cret\nKUBELET_EXTRA_ARGS=--v=4\n'),
    "FOO=***\nexport BAR=***\nKUBELET_EXTRA_ARGS=--v=4\n",
  );
});
