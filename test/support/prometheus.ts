// Debian's Prometheus beside a kubelet: it scrapes each second and evaluates queries.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { waitFor } from "../../tools/standalone/wait.js";
import { freePort } from "./free-port.js";

export interface Sample {
  metric: Record<string, string>;
  /** Time in seconds, and the value as text: "NaN" for 0/0. */
  value: [number, string];
}

export interface PrometheusOptions {
  scrapes: readonly Readonly<Record<string, unknown>>[];
  /** Files of rules, evaluated each second. */
  rules?: readonly string[];
  /** Path or name of the program. */
  program?: string;
  flags?: readonly string[];
}

export interface Target {
  labels: Record<string, string>;
  health: "up" | "down" | "unknown";
  lastError: string;
}

export interface Alert {
  labels: Record<string, string>;
  annotations: Record<string, string>;
  state: "pending" | "firing";
}

export interface EvaluatedRule {
  name: string;
  health: "ok" | "err" | "unknown";
  lastError?: string;
}

export class Prometheus implements AsyncDisposable {
  private constructor(
    private readonly child: ChildProcess,
    private readonly dir: string,
    private readonly url: string,
  ) {}

  /** `targets`: host:port of pages of the job `job`. */
  static start(job: string, targets: readonly string[]): Promise<Prometheus> {
    return Prometheus.with({ scrapes: [{ job_name: job, static_configs: [{ targets }] }] });
  }

  static async with({
    scrapes,
    rules = [],
    program = "prometheus",
    flags = [],
  }: PrometheusOptions): Promise<Prometheus> {
    const dir = await mkdtemp(join(tmpdir(), "nodelet-prometheus-"));
    const address = `127.0.0.1:${await freePort()}`;
    const config = {
      global: { scrape_interval: "1s", evaluation_interval: "1s" },
      scrape_configs: scrapes,
      rule_files: rules,
    };
    await writeFile(join(dir, "prometheus.yml"), stringify(config));
    const child = spawn(
      program,
      [
        `--config.file=${join(dir, "prometheus.yml")}`,
        `--storage.tsdb.path=${join(dir, "data")}`,
        `--web.listen-address=${address}`,
        ...flags,
      ],
      { stdio: "ignore" },
    );
    const prometheus = new Prometheus(child, dir, `http://${address}`);
    try {
      await waitFor(async () => (await fetch(`http://${address}/-/ready`)).ok, { what: "Prometheus to be ready" });
    } catch (error) {
      await prometheus[Symbol.asyncDispose]();
      throw error;
    }
    return prometheus;
  }

  /** The result of an instant query; throws with the server's words when it refuses the query. */
  async query(expression: string): Promise<Sample[]> {
    const response = await fetch(`${this.url}/api/v1/query`, {
      method: "POST",
      body: new URLSearchParams({ query: expression }),
    });
    return (await dataOf<{ result: Sample[] }>(response, expression)).result;
  }

  async targets(): Promise<Target[]> {
    return (await this.#get<{ activeTargets: Target[] }>("targets")).activeTargets;
  }

  async alerts(): Promise<Alert[]> {
    return (await this.#get<{ alerts: Alert[] }>("alerts")).alerts;
  }

  async rules(): Promise<EvaluatedRule[]> {
    const { groups } = await this.#get<{ groups: { rules: EvaluatedRule[] }[] }>("rules");
    return groups.flatMap((group) => group.rules);
  }

  async #get<T>(what: string): Promise<T> {
    return dataOf<T>(await fetch(`${this.url}/api/v1/${what}`), what);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null && this.child.pid !== undefined) {
      const ended = once(this.child, "exit");
      this.child.kill("SIGKILL");
      await ended;
    }
    await rm(this.dir, { recursive: true, force: true });
  }
}

async function dataOf<T>(response: Response, what: string): Promise<T> {
  const answer = (await response.json()) as { status: string; error?: string; data?: T };
  if (answer.status !== "success" || answer.data === undefined)
    throw new Error(`${what}: ${answer.error ?? "no result"}`);
  return answer.data;
}
