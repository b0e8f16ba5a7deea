// The rules of GitHub's workflows that a mistake would break only there, as actionlint has them: keys, references
// between jobs and steps, expressions, labels of runners, schedules, shells, pins and rights.

import { spawnSync } from "node:child_process";
import { parse } from "yaml";
import { expressionsIn, parseExpression, type Reference } from "./expressions.js";
import type { Job, Step, Workflow } from "./workflow-types.js";

export interface Source {
  name: string;
  text: string;
}

/** What the repository's settings have. */
export interface Settings {
  secrets: readonly string[];
  variables: readonly string[];
}

const KEYS: Readonly<Record<string, readonly string[]>> = {
  workflow: ["name", "run-name", "on", "permissions", "env", "defaults", "concurrency", "jobs"],
  concurrency: ["group", "cancel-in-progress"],
  job: [
    ...["name", "uses", "with", "secrets", "needs", "if", "environment", "concurrency", "permissions", "runs-on"],
    ...[
      "timeout-minutes",
      "strategy",
      "continue-on-error",
      "env",
      "defaults",
      "container",
      "services",
      "outputs",
      "steps",
    ],
  ],
  strategy: ["matrix", "fail-fast", "max-parallel"],
  step: [
    "id",
    "if",
    "name",
    "uses",
    "run",
    "shell",
    "with",
    "env",
    "working-directory",
    "continue-on-error",
    "timeout-minutes",
  ],
};
/** Events that this repository may use, with their keys. */
const EVENTS: Readonly<Record<string, readonly string[]>> = {
  push: ["branches", "branches-ignore", "tags", "tags-ignore", "paths", "paths-ignore"],
  pull_request: ["types", "branches", "branches-ignore", "paths", "paths-ignore"],
  workflow_call: ["inputs", "outputs", "secrets"],
  workflow_dispatch: ["inputs"],
  release: ["types"],
  schedule: [],
};
const SCOPES = [
  "actions",
  "attestations",
  "checks",
  "contents",
  "id-token",
  "issues",
  "packages",
  "pages",
  "pull-requests",
  "statuses",
];
const RUNNERS = ["ubuntu-24.04", "ubuntu-24.04-arm", "ubuntu-22.04", "ubuntu-22.04-arm"];
const SHELLS = ["bash", "sh"];
const CONTEXTS = [
  "github",
  "env",
  "vars",
  "secrets",
  "matrix",
  "needs",
  "steps",
  "job",
  "runner",
  "strategy",
  "inputs",
];
const GITHUB = [
  "actor",
  "event",
  "event_name",
  "head_ref",
  "base_ref",
  "ref",
  "ref_name",
  "ref_type",
  "repository",
  "repository_owner",
  "run_id",
  "run_number",
  "server_url",
  "sha",
  "token",
  "workflow",
  "workspace",
];
/** Actions and commands that fail without a right. */
const NEEDED: readonly (readonly [use: RegExp, scope: string, right: "read" | "write"])[] = [
  [/^actions\/checkout@/, "contents", "read"],
  [/^actions\/deploy-pages@/, "pages", "write"],
  [/^actions\/deploy-pages@/, "id-token", "write"],
  [/\bgh release (?:create|upload|edit|delete)\b/, "contents", "write"],
  [/\bdocker (?:push|buildx imagetools create)\b/, "packages", "write"],
  [/\bcosign (?:sign|sign-blob|attest) --yes\b/, "id-token", "write"],
];
const CRON_FIELDS: readonly (readonly [least: number, most: number])[] = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6],
];

/** One line for each fault; none if GitHub would take these workflows. */
export function workflowFaults(sources: readonly Source[], settings: Settings): string[] {
  const faults: string[] = [];
  const used = new Set<string>();
  for (const { name, text } of sources) {
    let workflow: Workflow;
    try {
      workflow = parse(text) as Workflow;
    } catch (error) {
      faults.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      continue;
    }
    const check = new Check(name, workflow, settings);
    check.whole(sources);
    faults.push(...check.faults);
    for (const secret of check.secrets) used.add(secret);
  }
  for (const secret of settings.secrets) if (!used.has(secret)) faults.push(`no workflow uses the secret ${secret}`);
  return faults;
}

class Check {
  readonly faults: string[] = [];
  readonly secrets = new Set<string>();

  constructor(
    private readonly name: string,
    private readonly workflow: Workflow,
    private readonly settings: Settings,
  ) {}

  whole(sources: readonly Source[]): void {
    const { workflow } = this;
    this.keys(this.name, "workflow", workflow);
    this.events();
    if (workflow.permissions === undefined)
      this.fault(this.name, "has no permissions: a job gets those of the repository");
    this.rights(this.name, workflow.permissions);
    const { jobs: _, ...own } = workflow;
    this.expressions(this.name, own, {}, []);
    for (const [id, job] of Object.entries(workflow.jobs)) this.job(id, job, sources);
  }

  private fault(where: string, what: string): void {
    this.faults.push(`${where}: ${what}`);
  }

  private keys(where: string, kind: string, value: object): void {
    for (const key of Object.keys(value))
      if (KEYS[kind]?.includes(key) !== true) this.fault(where, `${key} is no key of a ${kind}`);
  }

  private events(): void {
    for (const [event, filter] of Object.entries(this.workflow.on)) {
      const known = EVENTS[event];
      if (known === undefined) this.fault(this.name, `${event} is no event`);
      if (event === "schedule") {
        for (const { cron } of filter as { cron: string }[])
          if (!isCron(cron)) this.fault(this.name, `cron ${cron} is no schedule`);
      } else {
        for (const key of Object.keys(filter ?? {}))
          if (known?.includes(key) === false) this.fault(this.name, `${key} is no key of ${event}`);
      }
    }
  }

  private rights(where: string, permissions: Record<string, string> | undefined): void {
    for (const [scope, right] of Object.entries(permissions ?? {})) {
      if (!SCOPES.includes(scope)) this.fault(where, `${scope} is no scope of permissions`);
      if (!["read", "write", "none"].includes(right)) this.fault(where, `${scope} cannot be ${right}`);
    }
  }

  private job(id: string, job: Job, sources: readonly Source[]): void {
    const where = `${this.name}: ${id}`;
    this.keys(where, "job", job);
    this.rights(where, job.permissions);
    if (job.strategy !== undefined) this.keys(where, "strategy", job.strategy);
    this.needs(where, id, job);
    if (job.uses === undefined) this.runner(where, job);
    else this.called(where, job.uses, sources);
    const { steps: _, ...own } = job;
    // Outputs of a job are read after all of its steps.
    this.expressions(where, own, job, job.steps ?? []);
    const earlier: Step[] = [];
    for (const [index, step] of (job.steps ?? []).entries()) {
      this.step(`${where}, step ${index + 1}`, step, job, earlier);
      earlier.push(step);
    }
  }

  private needs(where: string, id: string, job: Job): void {
    for (const other of [job.needs ?? []].flat()) {
      if (this.workflow.jobs[other] === undefined) this.fault(where, `needs ${other}, which is no job`);
    }
    if (this.allNeeded(id, new Set()).has(id)) this.fault(where, "waits for itself");
  }

  private allNeeded(id: string, seen: Set<string>): Set<string> {
    for (const other of [this.workflow.jobs[id]?.needs ?? []].flat()) {
      if (seen.has(other)) continue;
      seen.add(other);
      this.allNeeded(other, seen);
    }
    return seen;
  }

  private called(where: string, uses: string, sources: readonly Source[]): void {
    const called = sources.find(({ name }) => uses === `./.github/workflows/${name}`);
    if (called === undefined) this.fault(where, `${uses} is no workflow`);
    else if (!/^ +workflow_call:/m.test(called.text)) this.fault(where, `${uses} cannot be called`);
  }

  private runner(where: string, job: Job): void {
    if (job.steps === undefined || job.steps.length === 0) this.fault(where, "has no steps");
    if (job["timeout-minutes"] === undefined) this.fault(where, "has no timeout-minutes");
    const label = String(job["runs-on"]);
    const key = /^\$\{\{ *matrix\.([\w-]+) *\}\}$/.exec(label)?.[1];
    const labels = key === undefined ? [label] : matrixValues(job, key);
    for (const one of labels)
      if (!RUNNERS.includes(String(one))) this.fault(where, `${String(one)} is no label of a runner`);
  }

  private step(where: string, step: Step, job: Job, earlier: readonly Step[]): void {
    this.keys(where, "step", step);
    if ((step.uses === undefined) === (step.run === undefined)) this.fault(where, "needs either uses or run");
    if (step.id !== undefined && earlier.some(({ id }) => id === step.id))
      this.fault(where, `${step.id} is the id of another step`);
    if (step.uses !== undefined && !/^[\w-]+\/[\w./-]+@[0-9a-f]{40}$/.test(step.uses))
      this.fault(where, `${step.uses} is not pinned to a commit`);
    if (step.shell !== undefined && !SHELLS.includes(step.shell)) this.fault(where, `${step.shell} is no shell`);
    if (step.run !== undefined) this.script(where, step);
    this.expressions(where, step, job, earlier);
    const rights = job.permissions ?? this.workflow.permissions ?? {};
    for (const [use, scope, right] of NEEDED) {
      if (!use.test(step.uses ?? step.run ?? "")) continue;
      const has = rights[scope] ?? "none";
      if (has !== right && has !== "write") this.fault(where, `needs the permission ${scope}: ${right}`);
    }
  }

  private script(where: string, step: Step): void {
    const text = step.run!.replaceAll(/\$\{\{.*?\}\}/g, "expression");
    const problem = scriptProblem(text);
    if (problem !== undefined) this.fault(where, `the script cannot be parsed: ${problem}`);
    for (const [name, value] of Object.entries(step.env ?? {})) {
      // The command gh reads its own.
      const isRead = new RegExp(String.raw`\$\{?${name}\b`).test(text) || (name === "GH_TOKEN" && /\bgh /.test(text));
      if (/secrets\.|github\.token/.test(value) && !isRead)
        this.fault(where, `the script does not use the secret ${name}`);
    }
  }

  /** Expressions of a job without its steps, or of one step; `earlier`: the steps that have run by then. */
  private expressions(where: string, value: object, job: Job, earlier: readonly Step[]): void {
    const found = textsOf(value).flatMap(([key, text]) => {
      const bare = key === "if" && !text.includes("${{");
      return bare ? [parseExpression(text)] : expressionsIn(text);
    });
    for (const { text, references, fault } of found) {
      if (fault !== undefined) this.fault(where, `\${{ ${text} }}: ${fault}`);
      for (const reference of references) {
        const unknown = this.unknownIn(reference, job, earlier);
        if (unknown !== undefined) this.fault(where, `${reference.path.join(".")}: ${unknown}`);
      }
    }
  }

  private unknownIn({ path }: Reference, job: Job, earlier: readonly Step[]): string | undefined {
    const [context = "", name = "", part, output = ""] = path;
    if (!CONTEXTS.includes(context)) return "there is no such context";
    if (context === "secrets") this.secrets.add(name);
    const isSecret = name === "GITHUB_TOKEN" || this.settings.secrets.includes(name);
    if (context === "secrets" && !isSecret) return "there is no such secret";
    if (context === "vars" && !this.settings.variables.includes(name)) return "there is no such variable";
    if (context === "github" && !GITHUB.includes(name)) return "there is no such property";
    if (context === "matrix" && matrixValues(job, name).length === 0) return "the matrix has no such key";
    if (context === "needs") {
      if (![job.needs ?? []].flat().includes(name)) return "the job does not wait for it";
      const outputs = this.workflow.jobs[name]?.outputs ?? {};
      if (part === "outputs" && outputs[output] === undefined) return "the job has no such output";
    }
    if (context === "steps") {
      const step = earlier.find(({ id }) => id === name);
      if (step === undefined) return "no earlier step has this id";
      if (part === "outputs" && step.run !== undefined && !writesOutput(step.run, output))
        return "the step has no such output";
    }
    return undefined;
  }
}

const problems = new Map<string, string | undefined>();

/** The first line of what bash says of a script, without running it. */
function scriptProblem(text: string): string | undefined {
  if (!problems.has(text)) {
    const { status, stderr } = spawnSync("bash", ["-n"], { input: text, encoding: "utf8" });
    problems.set(text, status === 0 ? undefined : stderr.trim().split("\n")[0]);
  }
  return problems.get(text);
}

function writesOutput(script: string, output: string): boolean {
  return script.includes("GITHUB_OUTPUT") && new RegExp(String.raw`\b${output}(?:=|<<)`).test(script);
}

function matrixValues(job: Job, key: string): unknown[] {
  const { include = [], ...axes } = job.strategy?.matrix ?? {};
  const axis = axes[key];
  return [
    ...(Array.isArray(axis) ? (axis as unknown[]) : []),
    ...include.flatMap((row) => (key in row ? [row[key]] : [])),
  ];
}

/** Every text below a value, with the key beside it. */
function textsOf(value: unknown, key = ""): [key: string, text: string][] {
  if (typeof value === "string") return [[key, value]];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, below]) => textsOf(below, Array.isArray(value) ? key : name));
}

/** Five fields of numbers, ranges, lists and steps; GitHub runs nothing more often than every five minutes. */
function isCron(text: string): boolean {
  const fields = text.trim().split(/\s+/);
  return (
    fields.length === CRON_FIELDS.length && fields.every((field, index) => isCronField(field, CRON_FIELDS[index]!))
  );
}

function isCronField(field: string, [least, most]: readonly [number, number]): boolean {
  return field.split(",").every((part) => {
    const [, range = "", step] = /^(\*|\d+(?:-\d+)?)(?:\/(\d+))?$/.exec(part) ?? [];
    if (range === "" || step === "0") return false;
    if (range === "*") return true;
    const [from = 0, to = from] = range.split("-").map(Number);
    return from >= least && to <= most && from <= to;
  });
}
