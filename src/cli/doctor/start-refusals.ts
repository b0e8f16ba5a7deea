// Checks of what makes a kubelet refuse its start: cgroup version 1, and swap. For a kubelet that runs they are
// warnings. Pure.

import { bad, ok, type Machine, type Result } from "./check.js";
import { kernelArgument } from "./kernel-argument.js";

const VERSION_2 = kernelArgument("systemd.unified_cgroup_hierarchy=1");

export function cgroupVersion({ cgroupVersion: version, nextStart }: Machine): Result {
  if (version === 2) return ok("cgroups", "version 2");
  const refuses = nextStart?.failCgroupV1 === true;
  return bad(
    refuses ? "error" : "warning",
    "cgroups",
    "version 1",
    refuses
      ? `the kubelet does not start with it, because failCgroupV1 is not false${inFile(nextStart.file)}; better: version 2, by ${VERSION_2}`
      : "memory QoS and limits of swap need version 2",
    refuses ? setField(nextStart.file, "failCgroupV1") : VERSION_2,
  );
}

export function swap({ swaps, nextStart }: Machine): Result {
  if (swaps.length === 0) return ok("swap", "off");
  const refuses = nextStart?.failSwapOn === true;
  return bad(
    refuses ? "error" : "warning",
    "swap",
    swaps.join(", "),
    refuses
      ? `the kubelet does not start with swap, because failSwapOn is not false${inFile(nextStart.file)}`
      : "pods that swap are slow",
    "swapoff -a && sed -i '/\\sswap\\s/s/^/#/' /etc/fstab",
  );
}

function inFile(file: string | undefined): string {
  return file === undefined ? "" : ` in ${file}`;
}

/** A field may be in the file already: twice it would be refused. */
function setField(file: string | undefined, field: string): string {
  if (file === undefined) return `write ${field}: false into the kubelet's configuration`;
  return `sed -i '/^${field}:/d' ${file} && echo '${field}: false' >>${file} && systemctl restart kubelet`;
}
