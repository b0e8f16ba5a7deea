// Configuration folders with pipes, devices and millions of mistakes. The check ends, with a line for each fault.

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { MOST_OF_ALL, MOST_PROBLEMS, SIZE_LIMIT, SUM_LIMIT } from "../../../src/main/command/config/size-limits.js";
import { loadSettings } from "../../../src/main/command/settings.js";
import { loadProviders } from "../../../src/main/containers/images/credential-providers/load-config.js";
import { answerCheck } from "../../../src/main/process/check-config/answer.js";
import { commandIo, MAX_ENTRIES } from "../../../src/main/process/unix/command-io.js";
import { HEAD } from "../../support/config-kit.js";

const base = await mkdtemp(join(tmpdir(), "hostile-config-"));
after(() => rm(base, { recursive: true }));

/** An empty folder for a test. */
async function folder(name: string): Promise<string> {
  const dir = join(base, name);
  await mkdir(dir);
  return dir;
}

/** The lines that refuse the configuration; none: it is accepted. */
async function problemsOf(flag: "config" | "config-dir", path: string): Promise<readonly string[]> {
  const request = await loadSettings(["--check-config", `--${flag}=${path}`, "--fail-cgroupv1=false"], commandIo);
  if (request.action === "check") return request.problems;
  ok(request.action === "print" && request.exitCode === 1);
  return request.text.trimEnd().split("\n");
}

test("pipes, devices, sockets' links and loops among the drop-ins are named, and hold nothing", async () => {
  const dir = await folder("kinds");
  execFileSync("mkfifo", [join(dir, "10.conf")]);
  await symlink("/dev/zero", join(dir, "20.conf"));
  await symlink("30.conf", join(dir, "30.conf"));
  await mkdir(join(dir, "40.conf"));
  await writeFile(join(dir, "50.conf"), `${HEAD}maxPods: 20\n`);
  const problems = await problemsOf("config-dir", dir);
  equal(problems.length, 3, problems.join("\n"));
  match(problems[0] ?? "", /10\.conf" cannot be read: .* is a FIFO, not a regular file/);
  match(problems[1] ?? "", /20\.conf" cannot be read: .* is a device, not a regular file/);
  match(problems[2] ?? "", /30\.conf" cannot be read: /);
});

test("a device as the configuration itself is too large", async () => {
  const [problem = "", ...others] = await problemsOf("config", "/dev/zero");
  match(problem, /larger than 10 MiB/);
  deepEqual(others, []);
});

test("files of terabytes, and many of megabytes, end at the limits", async () => {
  const dir = await folder("large");
  await writeFile(join(dir, "huge.conf"), "");
  await truncate(join(dir, "huge.conf"), 2 ** 40);
  match((await problemsOf("config-dir", dir)).join("\n"), /huge\.conf:1:1: larger than 10 MiB/);
  await rm(join(dir, "huge.conf"));
  const text = `${HEAD}${"# a line of a comment\n".repeat(SIZE_LIMIT / 2 / 22)}`;
  for (let index = 10; index < 20; index++) await writeFile(join(dir, `${index}.conf`), text);
  const problems = await problemsOf("config-dir", dir);
  equal(problems.length, 1);
  match(problems[0] ?? "", new RegExp(`16\\.conf" and the files before it have more than ${SUM_LIMIT / 2 ** 20} MiB`));
});

test("ten thousand drop-ins are read, and more entries than anyone has are refused", { timeout: 120_000 }, async () => {
  const dir = await folder("many");
  const make = async (from: number, to: number, text: string): Promise<void> => {
    for (let at = from; at < to; at += 500) {
      await Promise.all(Array.from({ length: 500 }, (_, index) => writeFile(join(dir, `${at + index}.conf`), text)));
    }
  };
  await make(0, 10_000, `${HEAD}maxPods: 20\n`);
  deepEqual(await problemsOf("config-dir", dir), []);
  await make(10_000, MAX_ENTRIES + 500, "");
  const [problem = "", ...others] = await problemsOf("config-dir", dir);
  match(problem, /cannot be listed: it has more than 20000 files and folders/);
  deepEqual(others, []);
});

test("many files with a mistake each are some lines, too", { timeout: 60_000 }, async () => {
  const dir = await folder("mistakes");
  for (let at = 0; at < MOST_OF_ALL + 200; at += 100) {
    await Promise.all(
      Array.from({ length: 100 }, (_, index) => writeFile(join(dir, `${at + index}.conf`), `${HEAD}maxPodz: 1\n`)),
    );
  }
  const problems = await problemsOf("config-dir", dir);
  equal(problems.length, MOST_OF_ALL + 1);
  match(problems[0] ?? "", /^--config-dir: the files have more than 1000 problems of one kind/);
});

test("megabytes of unknown fields, of wrong values and of nesting are some lines", { timeout: 120_000 }, async () => {
  const dir = await folder("text");
  const file = join(dir, "config.yaml");
  const lines = (line: (index: number) => string): string =>
    Array.from({ length: 200_000 }, (_, index) => line(index)).join("");
  const cases: [text: string, most: number, found: RegExp][] = [
    [lines((index) => `maxPodz${index}: 1\n`), MOST_PROBLEMS + 1, /unknown field[^]*further ones are not listed/],
    [`clusterDNS:\n${lines(() => "- [1]\n")}`, MOST_PROBLEMS + 1, /expected text[^]*further ones are not listed/],
    [`evictionHard: ${"{a: ".repeat(100_000)}1${"}".repeat(100_000)}\n`, 1, /nested too deeply|levels/],
    [`x: ${"[".repeat(2_000_000)}\n`, 1, /config\.yaml:\d+/],
    [`? ${"k".repeat(5_000_000)}\n: 1\n`, 1, /config\.yaml:3:3: k{500}…: unknown field/],
    [`a: &a [x]\n${lines((index) => `b${index}: [*a, *a]\n`)}`, MOST_PROBLEMS + 1, /unknown field|alias/],
  ];
  for (const [text, most, found] of cases) {
    await writeFile(file, HEAD + text);
    const problems = await problemsOf("config", file);
    const shown = problems.join("\n");
    ok(problems.length >= 1 && problems.length <= most, `${problems.length} lines: ${shown.slice(0, 300)}`);
    ok(found.test(shown), `${String(found)}: ${shown.slice(0, 300)}`);
    ok(shown.length < 200_000, `${shown.length} characters`);
  }
});

test("names and fields of files steer no terminal", async () => {
  const dir = await folder("escapes");
  const name = "\u001b]0;OWNED\u0007.conf";
  await writeFile(join(dir, name), `${HEAD}maxPods: 20\n`);
  const check = async (): Promise<string> => {
    const request = await loadSettings(["--check-config", `--config-dir=${dir}`, "--fail-cgroupv1=false"], commandIo);
    ok(request.action === "check");
    const { out, err } = await answerCheck(request);
    return out + err;
  };
  await check();
  await writeFile(join(dir, "20.conf"), `${HEAD}"a\\e[31mb\\nforged: line": 1\n`);
  // With and without a problem that a start does not tolerate, which another path of the code prints.
  for (const more of ["", "maxPods: many\n"]) {
    await writeFile(join(dir, "30.conf"), HEAD + more);
    const shown = more === "" ? await check() : (await problemsOf("config-dir", dir)).join("\n");
    match(shown, /a\\x1b\[31mb\\x0aforged: line: unknown field/);
    ok(!/[\u0000-\u0009\u000b-\u001f]/.test(shown), JSON.stringify(shown));
  }
});

test("a pipe among the credential providers is named, and holds nothing", async () => {
  const dir = await folder("providers");
  execFileSync("mkfifo", [join(dir, "a.yaml")]);
  const flags = { imageCredentialProviderConfig: dir, imageCredentialProviderBinDir: dir };
  const reading = loadProviders({ ...flags, kubeletServiceAccountTokenForCredentialProviders: false });
  await reading.then(
    () => ok(false, "it is refused"),
    (error: unknown) => match(String(error), /a\.yaml can't be read: .* is a FIFO, not a regular file/),
  );
});
