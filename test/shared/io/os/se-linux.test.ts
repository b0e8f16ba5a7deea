// The label of container files, by the files of the machine's policy.

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { test } from "node:test";
import { readFileLabel } from "../../../../src/shared/io/os/se-linux.js";
import { temporaryFolder } from "../../../support/sources-kit.js";

const ENFORCE = { "sys/fs/selinux/enforce": "1" };
const CONTAINER = { user: "system_u", role: "object_r", type: "container_file_t" };
const contexts = (file: string): string =>
  `process = "system_u:system_r:container_t:s0"\nfile = "${file}"\nro_file="x:y:z:s0"\n`;

const rows: readonly [string, Record<string, string>, object | undefined][] = [
  ["SELinux is not enabled", { "etc/selinux/config": "SELINUXTYPE=targeted\n" }, undefined],
  ["no file of contexts", ENFORCE, CONTAINER],
  [
    "the policy's contexts",
    {
      ...ENFORCE,
      "etc/selinux/config": "# SELINUXTYPE=no\nSELINUX=permissive\nSELINUXTYPE=mls\n",
      "etc/selinux/mls/contexts/lxc_contexts": contexts("a_u:a_r:a_t:s0"),
    },
    { user: "a_u", role: "a_r", type: "a_t" },
  ],
  [
    "the contexts of the containers' package come first",
    {
      ...ENFORCE,
      "etc/selinux/config": "SELINUXTYPE=mls\n",
      "etc/selinux/mls/contexts/lxc_contexts": contexts("a_u:a_r:a_t:s0"),
      "usr/share/containers/selinux/contexts": contexts("b_u:b_r:b_t:s0"),
    },
    { user: "b_u", role: "b_r", type: "b_t" },
  ],
  ["a line that is no label", { ...ENFORCE, "usr/share/containers/selinux/contexts": contexts("b_u") }, CONTAINER],
];
for (const [what, files, label] of rows) {
  test(`the label of container files: ${what}`, async (t) => {
    const root = `${await temporaryFolder(t)}/`;
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(`${root}${path}`), { recursive: true });
      await writeFile(`${root}${path}`, text);
    }
    assert.deepEqual(await readFileLabel(root), label);
  });
}
