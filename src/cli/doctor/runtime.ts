// The check of the container runtime: it is installed, runs, and serves a kubelet. Pure.

import type { NodeletStatus } from "../../shared/contracts/nodelet.js";
import { bad, ok, type Machine, type Result } from "./check.js";
import { installer } from "./cni-programs.js";

const CHECK = "runtime";
/** The program of a unit. */
const PROGRAMS: Readonly<Record<string, string>> = { containerd: "containerd", crio: "crio", docker: "dockerd" };

export function runtime(machine: Machine, status: NodeletStatus | undefined): Result {
  const { runtimes, settings, installed, packages } = machine;
  const known = status?.facts?.runtime;
  if (known?.reachable === true) return ok(CHECK, `${known.name} ${known.version} at ${status?.runtimeEndpoint ?? ""}`);
  if (settings?.criDisabled === true) {
    return bad(
      "error",
      CHECK,
      'containerd\'s configuration has the CRI plugin in "disabled_plugins"',
      "it serves Docker only: no pod can start",
      "sed -i '/^disabled_plugins/s/^/#/' /etc/containerd/config.toml && systemctl restart containerd",
    );
  }
  const found = runtimes.filter(({ answers }) => answers);
  if (found.length > 0) return ok(CHECK, `a socket at ${endpointsOf(found)}`);
  const units = runtimes.map(({ unit }) => unit);
  const there = units.filter((unit) => installed.includes(PROGRAMS[unit] ?? unit));
  if (there.length === 0 && units.includes("containerd")) {
    const fix = `${installer(packages)} containerd containernetworking-plugins`;
    return bad("error", CHECK, `${units.join(" and ")}: not installed`, "no pod can start", fix);
  }
  const [first = units[0] ?? "containerd"] = there;
  const flag = first === "docker" && status === undefined ? "; the kubelet needs --container-runtime=docker" : "";
  const why = `no pod can start${flag}`;
  return bad("error", CHECK, `no socket at ${endpointsOf(runtimes)}`, why, `systemctl enable --now ${first}`);
}

function endpointsOf(runtimes: Machine["runtimes"]): string {
  return runtimes.map(({ endpoint }) => endpoint).join(" or ");
}
