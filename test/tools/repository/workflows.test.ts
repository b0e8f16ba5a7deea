// The files of .github, the devcontainer and the Lima file. GitHub, a Mac and an editor are not here, so what can be
// read is checked: keys, pins, rights, and that every script, target and file that they name is there.

import assert from "node:assert/strict";
import { access, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const read = (path: string): Promise<string> => readFile(join(ROOT, path), "utf8");
const FOLDER = ".github/workflows";

interface Step {
  uses?: string;
  run?: string;
  with?: Record<string, unknown>;
  env?: Record<string, string>;
}
interface Job {
  uses?: string;
  needs?: string | string[];
  environment?: string;
  permissions?: Record<string, string>;
  "runs-on"?: string;
  "timeout-minutes"?: number | string;
  strategy?: { matrix: { include?: Record<string, string>[] } };
  steps?: Step[];
}
interface Workflow {
  on: Record<string, unknown>;
  permissions: Record<string, string>;
  jobs: Record<string, Job>;
}

const KEYS = {
  workflow: ["name", "on", "permissions", "concurrency", "jobs"],
  job: [
    ...[
      "name",
      "uses",
      "needs",
      "environment",
      "permissions",
      "runs-on",
      "timeout-minutes",
      "strategy",
      "env",
      "steps",
    ],
  ],
  step: ["name", "uses", "run", "with", "env"],
};
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

test("workflows, jobs and steps have known keys, and jobs wait for jobs that there are", () => {
  const known = (where: string, kind: keyof typeof KEYS, value: object): void =>
    assert.deepEqual(
      Object.keys(value).filter((key) => !KEYS[kind].includes(key)),
      [],
      where,
    );
  for (const { name, workflow } of workflows) known(name, "workflow", workflow);
  for (const { where, content, workflow } of jobs) {
    known(where, "job", content);
    for (const other of [content.needs ?? []].flat()) assert.ok(other in workflow.jobs, `${where} needs ${other}`);
    if (content.uses === undefined) {
      assert.match(content["runs-on"] ?? "", /^(ubuntu-24\.04|\$\{\{ matrix\.runner \}\})$/, where);
      assert.ok(content["timeout-minutes"] !== undefined && content.steps !== undefined, `${where} has no limit`);
    }
  }
  for (const { where, step } of steps) {
    known(where, "step", step);
    assert.equal(Number(step.uses !== undefined) + Number(step.run !== undefined), 1, where);
  }
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
      if (script !== undefined) assert.ok(script in scripts, `${where}: ${script}`);
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
  };
  assert.deepEqual(machine.images.map(({ arch }) => arch).sort(), ["aarch64", "x86_64"]);
  assert.deepEqual(machine.portForwards, [{ guestPort: statusPagePort, hostPort: statusPagePort }]);
  assert.ok(
    machine.mounts.every(({ writable }) => !writable),
    "npm packages for Linux must not lie in the Mac's checkout",
  );
});
