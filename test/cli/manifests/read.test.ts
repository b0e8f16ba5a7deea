// Which texts -f names, and what is read of them by the thread that reads manifests.

import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { validateText } from "../../../src/cli/commands/validate.js";
import { faultText, readManifests, type ManifestInput, type ReadManifests } from "../../../src/cli/manifests/read.js";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import { manifest } from "../../support/sources-kit.js";
import { PLAIN } from "../kit.js";

const MIB = 1024 * 1024;

describe("manifests of the command line", () => {
  let folder = "";
  const at = (name: string): string => join(folder, name);
  const read = (input: ManifestInput): Promise<ReadManifests> => readManifests(input, systemClock);
  const named = ({ manifests }: ReadManifests): string[] =>
    manifests.map(({ namespace, name }) => `${namespace}/${name}`);
  const faults = (found: ReadManifests): string[] =>
    found.faults.map((fault) => faultText(fault).replaceAll(`${folder}/`, ""));

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "nodelet-read-"));
    await mkdir(at("pods/below"), { recursive: true });
    await writeFile(at("pods/b.yaml"), manifest("b"));
    await writeFile(at("pods/a.yml"), manifest("a"));
    await writeFile(at("pods/ignored.txt"), "no: [yaml");
    await writeFile(at("pods/below/c.json"), JSON.stringify({ kind: "PodList", apiVersion: "v1", items: [] }));
    await writeFile(at("pods/below/d.yaml"), manifest("d"));
    await symlink("..", at("pods/below/circle.yaml.d"));
    await mkdir(at("empty"));
    await writeFile(at("large.yaml"), `# ${" ".repeat(10 * MIB)}\n${manifest("large")}`);
    await writeFile(at("other.txt"), manifest("other"));
    await writeFile(at("again.yaml"), `${manifest("x")}---\n${manifest("b")}`);
    await writeFile(
      at("kinds.yaml"),
      ["Deployment", "ConfigMap", "Foo", "pod"].map((kind) => `apiVersion: apps/v1\nkind: ${kind}\n`).join("---\n"),
    );
  });
  after(() => rm(folder, { recursive: true }));

  test("a folder stands for its manifests in the order of their names, and with -R for those below it", async () => {
    deepEqual(named(await read({ filename: [at("pods")] })), ["default/a", "default/b"]);
    deepEqual(named(await read({ filename: [at("pods")], recursive: true })), ["default/a", "default/b", "default/d"]);
  });

  test("a pipe in a folder is a fault and is not waited for", async () => {
    await mkdir(at("mixed"));
    await writeFile(at("mixed/a.yaml"), manifest("a"));
    execFileSync("mkfifo", [at("mixed/pipe.yaml")]);
    await symlink("nowhere", at("mixed/broken.yaml"));
    const found = await read({ filename: [at("mixed")] });
    deepEqual(named(found), ["default/a"]);
    deepEqual(faults(found).sort(), [
      "mixed/broken.yaml: there is no such file or folder",
      "mixed/pipe.yaml: it is no regular file",
    ]);
  });

  test("a file that is named needs no extension; -n is the namespace of pods that name none", async () => {
    deepEqual(named(await read({ filename: [at("other.txt")], namespace: "shop" })), ["shop/other"]);
  });

  test("a pod of another namespace than -n is a fault", async () => {
    await writeFile(at("shop.yaml"), manifest("web").replace("name: web", "name: web\n  namespace: other"));
    const found = await read({ filename: [at("shop.yaml")], namespace: "shop" });
    deepEqual(named(found), []);
    match(faults(found).join(), /^shop\.yaml:1: metadata\.namespace: "other" is not the namespace of -n, shop$/);
  });

  test("what cannot be read is a fault of its own", async () => {
    const paths = ["none.yaml", "empty", "large.yaml", "other.txt/x", "pods/b.yaml"].map(at);
    const found = await read({ filename: [...paths, "https://example.com/web.yaml"] });
    deepEqual(named(found), ["default/b"]);
    deepEqual(faults(found), [
      "none.yaml: there is no such file or folder",
      "empty: it has no file *.yaml, *.yml or *.json; -R reads the folders below it, too",
      "large.yaml: it is larger than 10 MiB",
      "other.txt/x: a part of its path is no folder",
      "https://example.com/web.yaml: addresses are not read: send it with `curl -sS https://example.com/web.yaml | nodelet apply -f -`",
    ]);
  });

  test("a second pod of a name is a fault that names the first", async () => {
    const found = await read({ filename: [at("pods"), at("again.yaml")] });
    deepEqual(named(found), ["default/a", "default/b", "default/x"]);
    match(faults(found).join(), /^again\.yaml:10: there is a pod default\/b before it, in pods\/b\.yaml:1:/);
  });

  test("a kind that a node cannot run has one line with what to do instead", async () => {
    const lines = faults(await read({ filename: [at("kinds.yaml")] }));
    equal(lines.length, 4);
    match(lines[0] ?? "", /^kinds\.yaml:2:7: kind: .*"Deployment".*make a Pod of its spec\.template/);
    match(lines[1] ?? "", /"ConfigMap".*hostPath/);
    match(lines[2] ?? "", /"Foo".*\(a node by itself runs only Pods\)$/);
    match(lines[3] ?? "", /did you mean "Pod"\?\)$/);
  });

  test("no path, or standard input twice, is wrong usage", async () => {
    await rejects(read({}), /no manifest is named/);
    await rejects(read({ filename: ["-", "-"] }), /only once/);
  });

  test("the report of validate keeps a name of a file with an end of a line, or an escape, in its line", async () => {
    await writeFile(at("odd\n\u001b[31m.yaml"), "kind: Pod");
    const found = await read({ filename: [at("odd\n\u001b[31m.yaml")] });
    await rm(at("odd\n\u001b[31m.yaml"));
    const lines = validateText(PLAIN, found, found.faults).replaceAll(`${folder}/`, "").split("\n");
    equal(lines.length, found.faults.length + 2);
    match(lines[0] ?? "", /^odd \[31m\.yaml:1:1: error: /);
  });

  test("the report of validate has a line for each fault, a note for several documents, and the sums", async () => {
    const found = await read({ filename: [at("again.yaml"), at("none.yaml")] });
    equal(
      validateText(PLAIN, found, found.faults).replaceAll(`${folder}/`, ""),
      [
        "none.yaml: error: there is no such file or folder",
        "again.yaml: note: several pods: a file in staticPodPath is read as one Pod, its first document; nodelet apply takes all",
        "2 texts, 2 valid pods, 1 error, 0 warnings",
        "",
      ].join("\n"),
    );
  });
});
