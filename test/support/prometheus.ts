// Debian's Prometheus beside a kubelet: it scrapes each second and evaluates queries.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { waitFor } from "../../packaging/standalone/wait.js";
import { freePort } from "./free-port.js";

export interface Sample {
  metric: Record<string, string>;
  /** Time in seconds, and the value as text: "NaN" for 0/0. */
  value: [number, string];
}

export class Prometheus implements AsyncDisposable {
  private constructor(
    private readonly child: ChildProcess,
    private readonly dir: string,
    private readonly url: string,
  ) {}

  /** `targets`: host:port of pages of the job `job`. */
  static async start(job: string, targets: readonly string[]): Promise<Prometheus> {
    const dir = await mkdtemp(join(tmpdir(), "nodelet-prometheus-"));
    const address = `127.0.0.1:${await freePort()}`;
    const config = {
      global: { scrape_interval: "1s", evaluation_interval: "1s" },
      scrape_configs: [{ job_name: job, static_configs: [{ targets }] }],
    };
    await writeFile(join(dir, "prometheus.yml"), stringify(config));
    const child = spawn(
      "prometheus",
      [
        `--config.file=${join(dir, "prometheus.yml")}`,
        `--storage.tsdb.path=${join(dir, "data")}`,
        `--web.listen-address=${address}`,
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
    const answer = (await response.json()) as { status: string; error?: string; data?: { result: Sample[] } };
    if (answer.status !== "success") throw new Error(`${expression}: ${answer.error ?? "no result"}`);
    return answer.data?.result ?? [];
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
