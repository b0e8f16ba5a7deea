// CHANGELOG.md as the packages have it, and the versions of packages between two releases.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { debianChangelog, notesOf, readChangelog, rpmChangelog } from "../../../tools/release/changelog.js";
import { packageVersion } from "../../../tools/release/package-version.js";
import { findExecutable, run } from "../../../tools/standalone/exec.js";
import { ROOT } from "./project.js";

const TEXT = `# Changelog

## Unreleased

### Pods

- A point of [a page](docs/page.md) that **matters** and is so long that its text does not fit into one
  line of Debian's changelog.

## 1.1.0 — 2026-02-03

- One.
- Two, 50%.

## 1.0.0 — 2026-01-01

### Start

First.
- A point.
`;
const EPOCH = Date.parse("2026-03-04T05:06:07Z") / 1000;

test("Debian's changelog has an entry for the package, with what is not released yet, and one for each release", () => {
  assert.equal(
    debianChangelog(TEXT, { version: "1.2.0~dev.3.gabc", epoch: EPOCH }),
    `nodelet (1.2.0~dev.3.gabc) stable; urgency=medium

  * A point of a page that matters and is so long that its text does not fit
    into one line of Debian's changelog.

 -- nodelet maintainers <maintainers@nodelet.dev>  Wed, 04 Mar 2026 05:06:07 +0000

nodelet (1.1.0) stable; urgency=medium

  * One.
  * Two, 50%.

 -- nodelet maintainers <maintainers@nodelet.dev>  Tue, 03 Feb 2026 00:00:00 +0000

nodelet (1.0.0) stable; urgency=medium

  * A point.

 -- nodelet maintainers <maintainers@nodelet.dev>  Thu, 01 Jan 2026 00:00:00 +0000
`,
  );
});

test("a package without changes since a release says so", () => {
  const released = TEXT.replace(/## Unreleased[^]*?(?=## 1\.1)/, "");
  assert.match(debianChangelog(released, { version: "1.1.0", epoch: EPOCH }), /^nodelet \(1\.1\.0\) /);
  assert.match(debianChangelog(released, { version: "9", epoch: EPOCH }), /^nodelet \(9\) [^]*Rebuild without changes/);
});

test("rpm's changelog has a line for each release", () => {
  assert.equal(
    rpmChangelog(TEXT, { version: "1.2.0", epoch: EPOCH }).split("\n\n")[0],
    "* Wed Mar 04 2026 nodelet maintainers <maintainers@nodelet.dev> - 1.2.0-1\n- Pods: see /usr/share/doc/nodelet/changelog.gz",
  );
});

test("the notes of a release are its section, and a heading of another form is refused", () => {
  assert.equal(notesOf(TEXT, "1.1.0"), "- One.\n- Two, 50%.\n");
  assert.throws(() => notesOf(TEXT, "1.3.0"), /no section "## 1\.3\.0/);
  assert.throws(() => readChangelog("## 1.0 (January)\n"), /neither "Unreleased" nor/);
});

test("CHANGELOG.md has the form that the packages need, newest first, and dpkg reads what is made of it", async (t) => {
  const markdown = await readFile(join(ROOT, "CHANGELOG.md"), "utf8");
  const [first, ...others] = readChangelog(markdown);
  assert.ok(others.length > 0);
  const { version } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as { version: string };
  assert.ok(first?.version === version || (first?.version === undefined && others[0]?.version !== version));
  const made = debianChangelog(markdown, { version: "99", epoch: EPOCH });
  for (const line of made.split("\n"))
    assert.ok(line.length <= 80 || !line.trim().includes(" ", 2) || line.startsWith(" -- "), line);
  const parser = await findExecutable("dpkg-parsechangelog");
  if (parser === undefined) t.diagnostic("dpkg-parsechangelog is not here");
  const reads = `printf %s "$1" | dpkg-parsechangelog --all --file - 2>&1 >/dev/null`;
  assert.equal(parser === undefined ? "" : await run("sh", ["-c", reads, "sh", made]), "", "dpkg has no warning");
});

test("a package between two releases has a version above the older and below the newer one", async () => {
  const versions = [
    packageVersion({ version: "0.1.0", commit: "v0.1.0" }),
    packageVersion({ version: "0.1.0", commit: "v0.1.0-2-gabc" }),
    packageVersion({ version: "0.2.0", commit: "v0.1.0-9-gabc" }),
    packageVersion({ version: "0.2.0", commit: "v0.1.0-10-g123-dirty" }),
    packageVersion({ version: "0.2.0" }),
    packageVersion({ version: "0.2.0", commit: "v0.2.0-dirty" }),
  ];
  assert.deepEqual(versions, [
    ...["0.1.0", "0.1.0+2.gabc", "0.2.0~dev.9.gabc", "0.2.0~dev.10.g123.dirty", "0.2.0", "0.2.0+0.dirty"],
  ]);
  for (const [index, version] of versions.slice(1).entries()) {
    await run("dpkg", ["--compare-versions", versions[index]!, "lt", version]);
  }
});
