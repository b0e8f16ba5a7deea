// The files of .github, the devcontainer and the Lima file. GitHub, a Mac and an editor are not here, so what can be
// read is checked: keys, pins, rights, and that every script, target and file that they name is there.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { access, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { workflowFaults, type Settings } from "./workflows/workflow-faults.js";
import type { Workflow } from "./workflows/workflow-types.js";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const read = (path: string): Promise<string> => readFile(join(ROOT, path), "utf8");
const FOLDER = ".github/workflows";

/** What each job may write, and nothing else may. */
const WRITES: Readonly<Record<string, readonly string[]>> = {
  publish: ["contents", "id-token"],
  image: ["packages"],
  "image-index": ["packages", "id-token"],
  pages: ["pages", "id-token"],
};

const names = (await readdir(join(ROOT, FOLDER))).sort();
const workflows = await Promise.all(
  names.map(async (name) => {
    const text = await read(`${FOLDER}/${name}`);
    return { name, text, workflow: parse(text) as Workflow };
  }),
);
const jobs = workflows.flatMap(({ name, workflow }) =>
  Object.entries(workflow.jobs).map(([job, content]) => ({ where: `${name}: ${job}`, job, content, workflow })),
);
const steps = jobs.flatMap(({ where, content }) => (content.steps ?? []).map((step) => ({ where, content, step })));

test("there are workflows for changes and for releases", () => {
  assert.deepEqual(names, ["ci.yml", "release.yml"]);
});

/** Secrets and variables as docs/releases.md tells a maintainer to set them. */
const page = await read("docs/releases.md");
const settings: Settings = {
  secrets: [...page.matchAll(/secret `(\w+)`/g)].map(([, name = ""]) => name),
  variables: [...page.matchAll(/variable `(\w+)`/g)].map(([, name = ""]) => name),
};

test("the workflows keep the rules that GitHub checks only when they run", () => {
  assert.deepEqual(settings.secrets, ["RELEASE_GPG_KEY"]);
  assert.deepEqual(workflowFaults(workflows, settings), []);
});

describe("a mistake in a workflow is found", () => {
  for (const [what, file, right, wrong, fault] of [
    ["an unknown key of a workflow", "ci.yml", "concurrency:", "concurency:", /concurency is no key of a workflow/],
    ["an unknown key of a job", "ci.yml", "timeout-minutes:", "timeout-minute:", /timeout-minute is no key of a job/],
    ["an unknown key of a step", "ci.yml", "        with:\n", "        wiht:\n", /wiht is no key of a step/],
    ["an event that there is not", "ci.yml", "  pull_request:\n", "  pull-request:\n", /pull-request is no event/],
    ["a key that the event does not have", "release.yml", "    tags: [", "    tag: [", /tag is no key of push/],
    ["a job that waits for none", "release.yml", "needs: packages", "needs: package", /needs package, which is no job/],
    ["jobs that wait for each other", "release.yml", "needs: packages", "needs: publish", /waits for itself/],
    ["a workflow that cannot be called", "ci.yml", "  workflow_call:\n", "", /ci\.yml cannot be called/],
    [
      "the output of no step",
      "ci.yml",
      "${{ matrix.script }}",
      "${{ steps.x.outputs.y }}",
      /no earlier step has this id/,
    ],
    [
      "an output that its step does not set",
      "ci.yml",
      "      - run: npm ci",
      "      - id: v\n        run: echo a=1 >>$GITHUB_OUTPUT\n      - run: 'true'\n        env: { A: \"${{ steps.v.outputs.b }}\" }\n      - run: npm ci",
      /steps\.v\.outputs\.b: the step has no such output/,
    ],
    [
      "an output of a job that is not awaited",
      "release.yml",
      "${{ vars.RELEASE_KEY }}",
      "${{ needs.image.outputs.x }}",
      /does not wait for it/,
    ],
    [
      "a key that the matrix does not have",
      "ci.yml",
      "${{ matrix.minutes }}",
      "${{ matrix.minute }}",
      /the matrix has no such key/,
    ],
    ["an expression without end", "ci.yml", "${{ matrix.script }}", "${{ matrix.script }", /it has no end|minutes/],
    [
      "an operator too many",
      "ci.yml",
      "${{ matrix.depth || '1' }}",
      "${{ matrix.depth || || '1' }}",
      /"\|\|" is not expected/,
    ],
    ["quotes that expressions do not have", "ci.yml", "'pull_request'", '"pull_request"', /is not expected/],
    [
      "a function that there is not",
      "ci.yml",
      "github.event_name ==",
      "lower(github.event_name) ==",
      /lower\(\) is no function/,
    ],
    [
      "a property that github does not have",
      "release.yml",
      "${{ github.ref_name }}",
      "${{ github.refname }}",
      /there is no such property/,
    ],
    [
      "an action by its version only",
      "ci.yml",
      "checkout@11bd71901bbe5b1630ceea73d27597364c9af683",
      "checkout@v4",
      /not pinned/,
    ],
    ["a workflow without permissions", "ci.yml", "permissions:\n  contents: read\n", "", /has no permissions/],
    [
      "a job without the right to publish",
      "release.yml",
      "      contents: write\n",
      "      contents: read\n",
      /needs the permission contents: write/,
    ],
    [
      "a job without the right to push an image",
      "release.yml",
      "      packages: write\n",
      "",
      /needs the permission packages: write/,
    ],
    [
      "a job without a token for its signature",
      "release.yml",
      "      id-token: write\n",
      "",
      /needs the permission id-token: write/,
    ],
    [
      "a scope that there is not",
      "release.yml",
      "      packages: write",
      "      package: write",
      /package is no scope/,
    ],
    ["the label of no runner", "ci.yml", "runs-on: ubuntu-24.04", "runs-on: ubuntu-24", /ubuntu-24 is no label/],
    [
      "a label of the matrix that is none",
      "release.yml",
      "runner: ubuntu-24.04-arm",
      "runner: ubuntu-arm",
      /ubuntu-arm is no label/,
    ],
    [
      "a day of the week that there is not",
      "ci.yml",
      "  pull_request:\n",
      "  schedule: [{ cron: '0 3 * * 8' }]\n",
      /cron 0 3 \* \* 8 is no schedule/,
    ],
    [
      "a schedule of six fields",
      "ci.yml",
      "  pull_request:\n",
      "  schedule: [{ cron: '0 0 3 * * 1' }]\n",
      /is no schedule/,
    ],
    [
      "a shell that the runner does not have",
      "ci.yml",
      "      - run: npm ci",
      "      - shell: ksh\n        run: npm ci",
      /ksh is no shell/,
    ],
    [
      "a script that cannot be parsed",
      "release.yml",
      "while read -r tag; do",
      "while read -r tag;",
      /cannot be parsed/,
    ],
    [
      "a secret that is not set",
      "release.yml",
      "secrets.RELEASE_GPG_KEY",
      "secrets.GPG_KEY",
      /secrets\.GPG_KEY: there is no such secret/,
    ],
    [
      "a secret that no script reads",
      "release.yml",
      '"$RELEASE_GPG_KEY"',
      '"$KEY_OF_RELEASES"',
      /does not use the secret RELEASE_GPG_KEY/,
    ],
    [
      "a variable that is not set",
      "release.yml",
      "vars.SITE_URL",
      "vars.SITE",
      /vars\.SITE: there is no such variable/,
    ],
    ["a job without a limit of time", "release.yml", "    timeout-minutes: 10\n", "", /has no timeout-minutes/],
    ["the same key twice", "ci.yml", "jobs:\n", "jobs: {}\njobs:\n", /unique/i],
  ] as const) {
    test(what, () => {
      const original = workflows.find(({ name }) => name === file)?.text ?? "";
      assert.ok(original.includes(right), `${file} has no longer: ${right}`);
      const changed = workflows.map(({ name, text }) => ({
        name,
        text: name === file ? text.replaceAll(right, wrong) : text,
      }));
      assert.match(workflowFaults(changed, settings).join("\n"), fault);
    });
  }

  test("a secret that no workflow uses", () => {
    const more = { ...settings, secrets: [...settings.secrets, "OTHER"] };
    assert.deepEqual(workflowFaults(workflows, more), ["no workflow uses the secret OTHER"]);
  });
});

test("actions are pinned by commit with their version beside it, each by one commit", () => {
  const pins = new Map<string, string>();
  for (const { name, text } of workflows) {
    for (const line of text.split("\n").filter((one) => /^ +(?:- )?uses: /.test(one))) {
      if (line.includes("uses: ./")) continue;
      const pinned = /uses: ([\w./-]+)@([0-9a-f]{40}) # v\d+\.\d+\.\d+$/.exec(line);
      assert.ok(pinned, `${name}: ${line.trim()}`);
      const before = pins.get(pinned[1]!) ?? pinned[2];
      assert.equal(pinned[2], before, `${name}: ${pinned[1]}`);
      pins.set(pinned[1]!, pinned[2]!);
    }
  }
  assert.ok(pins.size >= 5);
});

test("a job may write only what its step needs; checkouts keep no credentials", () => {
  for (const { name, workflow } of workflows) assert.deepEqual(workflow.permissions, { contents: "read" }, name);
  for (const { where, job, content } of jobs) {
    const writes = Object.entries(content.permissions ?? {}).filter(([, right]) => right !== "read");
    assert.deepEqual(
      writes.map(([what]) => what),
      WRITES[job] ?? [],
      where,
    );
  }
  for (const { where, step } of steps) {
    if (step.uses?.startsWith("actions/checkout@")) assert.equal(step.with?.["persist-credentials"], false, where);
  }
});

test("secrets reach only steps of the protected environment, and no expression is part of a script", () => {
  for (const { where, step, content } of steps) {
    assert.doesNotMatch(step.run ?? "", /\$\{\{/, `${where}: a name of a branch could be a command`);
    if (JSON.stringify(step).includes("secrets.")) assert.equal(content.environment, "release", where);
  }
});

test("the scripts, targets, variables and files that the workflows name are there", async () => {
  const { scripts } = JSON.parse(await read("package.json")) as { scripts: Record<string, string> };
  const makefile = await read("Makefile");
  const targets = /^\.PHONY: (.+)$/m.exec(makefile)?.[1]?.split(" ") ?? [];
  for (const { where, step } of steps) {
    const text = step.run ?? "";
    for (const [, script] of text.matchAll(/\bnpm run (?:--silent )?([\w:]+)/g))
      assert.ok(script! in scripts, `${where}: ${script}`);
    for (const [, target, rest] of text.matchAll(/\bmake ([a-z-]+)((?: [A-Z]+=\S+)*)/g)) {
      assert.ok(targets.includes(target!), `${where}: make ${target}`);
      for (const word of rest!
        .trim()
        .split(" ")
        .filter((one) => one !== "")) {
        const [variable = ""] = word.split("=");
        assert.ok(makefile.includes(`$(${variable})`), `${where}: ${variable}`);
      }
    }
    for (const [, file] of text.matchAll(/\bnode (dist\/\S+)\.js/g))
      await access(join(ROOT, `${file!.slice("dist/".length)}.ts`));
  }
  for (const { where, content } of jobs) {
    if (content.uses !== undefined) await access(join(ROOT, content.uses));
    for (const { script } of content.strategy?.matrix.include ?? []) {
      if (script !== undefined) assert.ok(String(script) in scripts, `${where}: ${script}`);
    }
  }
});

test("CI on GitHub runs every step of .ci/run, with its settings", async () => {
  const ci = await read(".ci/run");
  const stepsOfRun = [...ci.matchAll(/^step \d+ (\S+)/gm)].map(([, script]) => script);
  const { jobs: found } = parse(await read(`${FOLDER}/ci.yml`)) as Workflow;
  const matrix = found["check"]?.strategy?.matrix.include ?? [];
  assert.deepEqual(matrix.map(({ script }) => script).sort(), stepsOfRun.sort());
  const env = (found["check"] as { env?: Record<string, string> }).env ?? {};
  for (const [, name, value] of ci.matchAll(/^export ([A-Z_]+)=(\d+)$/gm)) assert.equal(env[name!], value, name);
});

test("the image is made of the package that make packages makes, and nothing else of the checkout is sent", async () => {
  const dockerfile = await read("tools/deploy/container/Dockerfile");
  assert.match(dockerfile, /^COPY dist\/packages\/nodelet_\*_\$\{TARGETARCH\}\.deb \/tmp\/$/m);
  assert.match(dockerfile, /^ARG TARGETARCH$/m);
  assert.match(dockerfile, /^ENTRYPOINT \["\/usr\/bin\/kubelet"\]$/m);
  assert.equal(await read("tools/deploy/container/Dockerfile.dockerignore"), "*\n!dist/packages/*.deb\n");
  assert.match(await read("Makefile"), /build --file tools\/deploy\/container\/Dockerfile --tag/);
});

describe("forms", () => {
  interface Element {
    type: string;
    id?: string;
    attributes: { label?: string; value?: string; description?: string };
    validations?: { required: boolean };
  }
  for (const name of ["bug.yml", "change.yml"]) {
    test(`${name} has the elements that GitHub knows, each with its own id`, async () => {
      const form = parse(await read(`.github/ISSUE_TEMPLATE/${name}`)) as {
        name: string;
        description: string;
        body: Element[];
      };
      assert.ok(form.name !== "" && form.description !== "");
      const questions = form.body.filter(({ type }) => type !== "markdown");
      for (const { type, attributes } of questions) {
        assert.ok(["input", "textarea", "dropdown", "checkboxes"].includes(type), type);
        assert.ok(attributes.label);
      }
      assert.equal(new Set(questions.map(({ id }) => id)).size, questions.length);
    });
  }

  test("a report of a fault needs a support bundle and a version; a pull request asks for one", async () => {
    const { body } = parse(await read(".github/ISSUE_TEMPLATE/bug.yml")) as { body: Element[] };
    const bundle = body.find(({ id }) => id === "bundle");
    assert.match(bundle?.attributes.description ?? "", /nodelet support-bundle/);
    assert.equal(bundle?.validations?.required, true);
    assert.equal(body.find(({ id }) => id === "version")?.validations?.required, true);
    assert.match(await read(".github/pull_request_template.md"), /nodelet support-bundle/);
  });
});

test("the devcontainer and the Lima machine forward the status page of npm start, and their files are there", async () => {
  const usage = new URL("tools/usage/start.mjs", `file://${ROOT}`).href;
  const { parseStart } = (await import(usage)) as {
    parseStart: (words: readonly string[]) => { statusPagePort: number; stateDir: string };
  };
  const { statusPagePort, stateDir } = parseStart([]);
  const text = (await read(".devcontainer/devcontainer.json"))
    .split("\n")
    .filter((line) => !line.trim().startsWith("//"))
    .join("\n");
  const container = JSON.parse(text) as {
    build: { dockerfile: string };
    privileged: boolean;
    forwardPorts: number[];
    mounts: string[];
    postStartCommand: string;
  };
  await access(join(ROOT, ".devcontainer", container.build.dockerfile));
  await access(join(ROOT, container.postStartCommand.replace("sh ", "")));
  assert.ok(container.privileged);
  assert.deepEqual(container.forwardPorts, [statusPagePort]);
  assert.ok(container.mounts.some((mount) => mount.includes(`target=${stateDir},`)));
  const machine = parse(await read("tools/deploy/lima/nodelet.yaml")) as {
    images: { location: string; arch: string }[];
    portForwards: { guestPort: number; hostPort: number }[];
    mounts: { writable: boolean }[];
    provision: { script: string }[];
    probes: { script: string }[];
  };
  assert.deepEqual(machine.images.map(({ arch }) => arch).sort(), ["aarch64", "x86_64"]);
  for (const { script } of [...machine.provision, ...machine.probes])
    assert.equal(spawnSync("sh", ["-n"], { input: script, encoding: "utf8" }).stderr, "");
  assert.deepEqual(machine.portForwards, [{ guestPort: statusPagePort, hostPort: statusPagePort }]);
  assert.ok(
    machine.mounts.every(({ writable }) => !writable),
    "npm packages for Linux must not lie in the Mac's checkout",
  );
});
