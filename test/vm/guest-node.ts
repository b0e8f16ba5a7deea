// The node inside the machine, in the words of the tests: its unit, pods, containers, cgroups and journal.

import type { PodView } from "../../tools/standalone/pods.js";
import type { Machine } from "./machine.js";

export const MANIFESTS = "/etc/kubernetes/manifests";
/** The packaged unit serves pods on the admin socket only; the machine has no client for it but perl. */
const PODS = `perl -MIO::Socket::UNIX -e '$s = IO::Socket::UNIX->new("/run/nodelet/kubelet.sock") or exit 1;
  print $s "GET /pods HTTP/1.0\\r\\n\\r\\n"; while (<$s>) { print if $body; $body ||= /^\\r?$/ }'`;
const HEALTHZ_URL = "http://127.0.0.1:10248/healthz";

/** A running container as the kernel and the runtime know it: unchanged means never restarted. */
export interface RunningContainer {
  id: string;
  restartCount: number;
  /** Lines "<pid> <start time in ticks>". */
  processes: string[];
}

/** A line of the unit's journal. */
export interface JournalEntry {
  /** syslog priority, 0–7. */
  priority: number;
  identifier: string;
  message: string;
  pid: number;
}

export class GuestNode {
  constructor(readonly vm: Machine) {}

  /** Writes a file in one step. */
  async put(path: string, text: string): Promise<void> {
    const content = Buffer.from(text).toString("base64");
    // The kubelet reads names that begin with a dot as "not there".
    await this.vm.ok(`
      mkdir -p "$(dirname ${path})" && new="$(dirname ${path})/.new-$(basename ${path})"
      echo ${content} | base64 -d >"$new" && mv "$new" ${path}`);
  }

  putManifest(name: string, pod: unknown): Promise<void> {
    return this.put(`${MANIFESTS}/${name}.yaml`, JSON.stringify(pod));
  }

  /** `systemctl show` of the kubelet's unit. */
  async unit(...properties: string[]): Promise<Record<string, string>> {
    const text = await this.vm.ok(`systemctl show kubelet --property=${properties.join(",")}`);
    const pairs = text.trim().split("\n");
    return Object.fromEntries(pairs.map((line) => [line.split("=", 1)[0] ?? "", line.slice(line.indexOf("=") + 1)]));
  }

  async mainPid(): Promise<string> {
    return (await this.unit("MainPID"))["MainPID"] ?? "0";
  }

  async waitHealthy(): Promise<void> {
    await this.vm.until(`busybox wget -q -O - ${HEALTHZ_URL}`, { what: "the kubelet's /healthz to say ok" });
  }

  async pods(): Promise<PodView[]> {
    const { items } = JSON.parse(await this.vm.ok(PODS)) as { items: PodView[] };
    return items;
  }

  /** The static pod of a manifest, once all of it runs. */
  runningPod(name: string): Promise<PodView> {
    return this.podInPhase(name, "Running");
  }

  async podInPhase(name: string, phase: string): Promise<PodView> {
    await this.vm.until(`${PODS} | grep -q '"name":"${name}-vm".*"phase":"${phase}"'`, {
      what: `pod ${name} to be ${phase}`,
      timeoutMs: 90_000,
    });
    const pod = (await this.pods()).find(({ metadata }) => metadata.name === `${name}-vm`);
    if (pod === undefined) throw new Error(`pod ${name} vanished; ${await this.vm.story()}`);
    return pod;
  }

  /** Waits until neither the kubelet nor the runtime knows any pod. */
  async removePods(): Promise<void> {
    await this.vm.ok(`rm -f ${MANIFESTS}/*`);
    await this.vm.until(
      `${PODS} | grep -q '"items":\\[\\]' && test -z "$(ctr --namespace k8s.io containers list --quiet)"`,
      { what: "all pods to be removed", timeoutMs: 90_000 },
    );
  }

  /** The first container of a pod, with the processes in its cgroup. */
  async container(pod: PodView): Promise<RunningContainer> {
    const status = pod.status?.containerStatuses?.[0];
    const id = status?.containerID?.replace("containerd://", "");
    if (id === undefined) throw new Error(`pod ${pod.metadata.name} has no container: ${JSON.stringify(pod.status)}`);
    const processes = await this.vm.ok(`
      folder="$(find /sys/fs/cgroup/kubepods* -type d -name '*${id}*')" && test -n "$folder"
      for pid in $(cat "$folder/cgroup.procs"); do echo "$pid $(cut -d ' ' -f 22 "/proc/$pid/stat")"; done`);
    return { id, restartCount: status?.restartCount ?? 0, processes: processes.trim().split("\n") };
  }

  /** Memory of the machine. */
  async memoryBytes(): Promise<number> {
    return 1024 * Number(await this.vm.ok("sed -n 's/^MemTotal: *\\([0-9]*\\) kB/\\1/p' /proc/meminfo"));
  }

  /** Controller files of one cgroup, by name. */
  async cgroup(folder: string, files: readonly string[]): Promise<Record<string, string>> {
    const text = await this.vm.ok(
      `cd ${folder} && for file in ${files.join(" ")}; do echo "$file=$(cat "$file")"; done`,
    );
    const pairs = text.trim().split("\n");
    return Object.fromEntries(pairs.map((line) => [line.split("=", 1)[0] ?? "", line.slice(line.indexOf("=") + 1)]));
  }

  /** Waits until the kubelet's log has a line of this pattern (grep's extended ones). */
  async waitForLog(pattern: string): Promise<void> {
    await this.vm.until(`journalctl --unit kubelet --no-pager --quiet | grep -qE '${pattern}'`, {
      what: `the kubelet to say ${pattern}`,
    });
  }

  /** The unit's journal, oldest first: what the kubelet wrote and what systemd said about it. */
  async journal(...more: string[]): Promise<JournalEntry[]> {
    const text = await this.vm.ok(`journalctl --unit kubelet --output json --no-pager ${more.join(" ")}`);
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => {
        const entry = JSON.parse(line) as Record<string, string | number[] | null>;
        const field = (name: string): string => asText(entry[name]);
        return {
          priority: Number(field("PRIORITY")),
          identifier: field("SYSLOG_IDENTIFIER"),
          message: field("MESSAGE"),
          pid: Number(field("_PID")),
        };
      });
  }
}

/** journalctl shows text that is not printable as a list of bytes. */
function asText(field: string | number[] | null | undefined): string {
  return Array.isArray(field) ? Buffer.from(field).toString() : (field ?? "");
}
