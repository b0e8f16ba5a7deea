// Commands of a fresh clone: help and wrong arguments are answered by plain Node, before npm packages are there and
// before a build.

import assert from "node:assert/strict";
import { execFile, fork } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));

interface Start {
  stateDir: string;
  runtime: string;
  readOnlyPort: number;
}
interface Bench {
  sections: string[];
  turns: number;
}
interface Simulate {
  seed: number | undefined;
  steered: boolean;
}
interface Usage {
  start: { parseStart: (args: readonly string[]) => Start };
  simulate: { readSimulateWords: (args: readonly string[]) => Simulate };
  bench: { parseBench: (args: readonly string[], env?: Record<string, string>) => Bench; HELP: string };
}
const usage = async <K extends keyof Usage>(name: K): Promise<Usage[K]> =>
  (await import(new URL(`tools/usage/${name}.mjs`, `file://${ROOT}`).href)) as Usage[K];

describe("a fresh clone", () => {
  let clone: string;

  before(async () => {
    clone = await mkdtemp(join(tmpdir(), "nodelet-clone-"));
    for (const name of ["tools", "package.json", "package-lock.json"]) {
      await cp(join(ROOT, name), join(clone, name), { recursive: true });
    }
    await mkdir(join(clone, "test"));
    await cp(join(ROOT, "test/run.mjs"), join(clone, "test/run.mjs"));
  });
  after(() => rm(clone, { recursive: true, force: true }));

  /** Runs an npm script as npm would. Neither npm nor git is on its path. */
  const runScript = async (name: string, ...words: string[]) => {
    const { scripts } = JSON.parse(await readFile(join(clone, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };
    const [, ...script] = (scripts[name] ?? "").split(" ");
    return new Promise<{ status: number; stdout: string; stderr: string }>((resolve) => {
      const child = execFile(
        process.execPath,
        [...script, ...words],
        { cwd: clone, env: { PATH: "/nonexistent" } },
        (_, stdout, stderr) => resolve({ status: child.exitCode ?? -1, stdout, stderr }),
      );
    });
  };

  for (const script of ["start", "bench", "profile", "docs", "site", "test", "test:unit", "dev"]) {
    for (const word of ["--help", "-h"]) {
      test(`npm run ${script} -- ${word} prints its help, and nothing is installed or built`, async () => {
        const { status, stdout, stderr } = await runScript(script, word);
        assert.deepEqual({ status, stderr }, { status: 0, stderr: "" });
        assert.match(stdout, /^npm (run )?\w+/);
        const names = await readdir(clone);
        assert.deepEqual(names.sort(), ["package-lock.json", "package.json", "test", "tools"]);
      });
    }
    test(`npm run ${script} answers an unknown option with one line`, async () => {
      const { status, stdout, stderr } = await runScript(script, "--nosuch");
      assert.deepEqual({ status, stdout }, { status: 1, stdout: "" });
      assert.match(stderr, /^nodelet: .*--nosuch.*\n$/);
      assert.doesNotMatch(stderr, /positional argument/);
    });
  }

  test("npm run bench -- list names the sections, and a word that is none of them the nearest one, at once", async () => {
    const { status, stdout } = await runScript("bench", "list");
    assert.equal(status, 0);
    for (const name of ["queue", "idle", "dockershim"]) assert.match(stdout, new RegExp(`^  ${name} +\\S`, "m"));
    const guesses = { idel: "idle", clutser: "cluster", stream: "streams" };
    for (const [wrong, right] of Object.entries(guesses)) {
      const { stderr } = await runScript("bench", wrong);
      assert.match(stderr, new RegExp(`^nodelet: unknown section ${wrong}\\. Did you mean ${right}\\? .*list.*\\n$`));
    }
    const { stderr } = await runScript("bench", "xyzzyx");
    assert.doesNotMatch(stderr, /Did you mean/);
  });

  test("npm run dev answers a word that is in no path with one line and the nearest name, and waits for nothing", async () => {
    await mkdir(join(clone, "test/main"), { recursive: true });
    await writeFile(join(clone, "test/main/planner.test.ts"), "");
    const { status, stdout, stderr } = await runScript("dev", "planer");
    await rm(join(clone, "test/main"), { recursive: true });
    assert.deepEqual({ status, stdout }, { status: 1, stdout: "" });
    assert.match(stderr, /^nodelet: no unit test has "planer" in its path\. Did you mean planner\? .*\n$/);
  });

  test("values that an option does not take are one line, too", async () => {
    for (const [script, ...words] of [
      ["start", "--timeout", "soon"],
      ["bench", "nosuch"],
      ["bench", "queue", "--against", "/usr/bin/kubelet"],
      ["bench", "queue", "--kubelet", "/usr/bin/kubelet"],
      ["profile", "doctor", "many"],
    ] as const) {
      const { status, stdout, stderr } = await runScript(script, ...words);
      assert.deepEqual(
        { status, stdout, lines: stderr.split("\n").length },
        { status: 1, stdout: "", lines: 2 },
        stderr,
      );
    }
  });
});

describe("a program that is started without npm", async () => {
  const { scripts } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  const prefix = "node tools/build/run.mjs ";
  const programs = Object.values(scripts).flatMap((script) =>
    script.startsWith(prefix) ? [script.slice(prefix.length)] : [],
  );
  // Where an answer is missing, the bench ends before it starts a runtime.
  const env = { ...process.env, TMPDIR: "/nonexistent" };
  const answer = (...args: string[]) =>
    new Promise<{ status: number; stdout: string; stderr: string }>((resolve) => {
      const child = execFile(process.execPath, args, { cwd: ROOT, env, timeout: 60_000 }, (_, stdout, stderr) =>
        resolve({ status: child.exitCode ?? -1, stdout, stderr }),
      );
    });

  for (const program of programs) {
    test(`${program} answers help and wrong words as npm run does`, async () => {
      const words = program === "dist/bench/main.js" ? ["--help", "-h", "list", "clutser"] : ["--help", "--nosuch"];
      for (const word of words) {
        const [alone, byNpm] = await Promise.all([answer(program, word), answer("tools/build/run.mjs", program, word)]);
        assert.deepEqual(alone, byNpm, word);
        assert.equal(alone.status, ["--help", "-h", "list"].includes(word) ? 0 : 1, alone.stderr);
      }
    });
  }

  test("dist/bench/main.js does so with a channel to its parent, too, as it has below another Node", async () => {
    const child = fork(join(ROOT, "dist/bench/main.js"), ["--help"], { env, silent: true });
    let stderr = "";
    child.stderr?.on("data", (text: Buffer) => (stderr += text.toString()));
    const [status] = (await once(child, "exit")) as [number | null];
    assert.deepEqual({ status, stderr }, { status: 0, stderr: "" });
  });
  assert.ok(programs.length >= 5, programs.join());
});

test("npm start reads its options, and refuses values that it cannot use", async () => {
  const { parseStart } = await usage("start");
  assert.equal(parseStart([]).readOnlyPort, 10255);
  assert.equal(parseStart(["--state-dir", "/x/"]).stateDir, "/x");
  assert.equal(parseStart([]).runtime, "containerd");
  assert.equal(parseStart(["--runtime", "docker"]).runtime, "docker");
  for (const args of [
    ["--bogus"],
    ["--read-only-port", "0"],
    ["--timeout", "soon"],
    ["--state-dir", "relative"],
    ["--state-dir", "/"],
    ["--container-runtime-endpoint", "tcp://1.2.3.4"],
    ["--runtime", "cri-o"],
    ["--runtime", "docker", "--container-runtime-endpoint", "unix:///run/other.sock"],
    ["word"],
  ]) {
    assert.throws(
      () => parseStart(args),
      (error: Error) => !error.message.includes("\n"),
      args.join(" "),
    );
  }
});

test("each section of the bench has a row in the help, and each row has a section", async () => {
  const { HELP, parseBench } = await usage("bench");
  const rows = Array.from(HELP.split("Sections:\n")[1]!.matchAll(/^ {2}(\w+) /gm), ([, name]) => name);
  const folder = join(ROOT, "bench/sections");
  const texts = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), "utf8")));
  const named = texts.flatMap((text) => /: Section(?:<[^>]+>)? = \{\n {2}name: "(\w+)"/.exec(text)?.[1] ?? []);
  assert.deepEqual(rows.sort(), named.sort());
  const main = await readFile(join(ROOT, "bench/main.ts"), "utf8");
  assert.equal(main.match(/^ {2}\w+Section,$/gm)?.length, rows.length);
  assert.deepEqual(parseBench(["soak", "idle", "--turns", "8"]), {
    sections: ["idle", "soak"],
    turns: 8,
    against: undefined,
    kubelet: undefined,
  });
  assert.ok(!parseBench([]).sections.includes("soak"));
  for (const turns of ["0", "2", "x"]) assert.throws(() => parseBench(["--turns", turns]), /multiple of 4/);
  for (const sizes of ["", "abc", "0", "30,", "1.5", "-3"])
    assert.throws(() => parseBench(["scale"], { NODELET_BENCH_SCALE: sizes }), /NODELET_BENCH_SCALE=.*whole numbers/);
  assert.deepEqual(parseBench(["scale"], { NODELET_BENCH_SCALE: "30,100" }).sections, ["scale"]);
  assert.throws(() => parseBench(["idle", "--against", "/nonexistent/kubelet"]), /there is no such file/);
  assert.throws(() => parseBench(["idle", "--kubelet", join(ROOT, "package.json")]), /cannot be run \(EACCES\)/);
});

test("npm run simulate has one seed for each commit, from which it is steered like a new one", async () => {
  const { readSimulateWords } = await usage("simulate");
  const [one, other] = [readSimulateWords(["--seed", "commit"]), readSimulateWords(["--seed", "commit"])];
  assert.ok(Number.isSafeInteger(one.seed));
  assert.deepEqual(other, one);
  assert.equal(one.steered, true);
  assert.equal(readSimulateWords(["--seed", "7"]).steered, false);
});
