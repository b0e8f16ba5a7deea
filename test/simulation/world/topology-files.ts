// What the kernel tells of the machine's CPUs in /sys/devices/system, if the node has a layout.
// Source: https://docs.kernel.org/admin-guide/cputopology.html

import { disk } from "../disk/machine-disk.js";
import { MACHINE_MIB, type Layout } from "./node-shape.js";

const MEMORY_KIB = MACHINE_MIB * 1024;
const [LOCAL, REMOTE] = [10, 21];

export function makeTopologyFiles({ sockets, cores, threads }: Layout): void {
  const all = sockets * cores;
  const system = "/sys/devices/system";
  const file = (path: string, text: string): void => disk.kernelFile(`${system}/${path}`, () => `${text}\n`);
  file("cpu/online", `0-${all * threads - 1}`);
  for (let socket = 0; socket < sockets; socket++) {
    const ofSocket: number[] = [];
    for (let core = socket * cores; core < (socket + 1) * cores; core++) {
      const siblings = Array.from({ length: threads }, (_, thread) => core + thread * all);
      ofSocket.push(...siblings);
      for (const cpu of siblings) {
        file(`cpu/cpu${cpu}/topology/physical_package_id`, String(socket));
        file(`cpu/cpu${cpu}/topology/core_cpus_list`, siblings.join(","));
      }
    }
    const list = ofSocket.toSorted((a, b) => a - b).join(",");
    for (const cpu of ofSocket) {
      file(`cpu/cpu${cpu}/cache/index3/level`, "3");
      file(`cpu/cpu${cpu}/cache/index3/shared_cpu_list`, list);
    }
    const distances = Array.from({ length: sockets }, (_, other) => (other === socket ? LOCAL : REMOTE));
    file(`node/node${socket}/cpulist`, list);
    file(`node/node${socket}/meminfo`, `Node ${socket} MemTotal: ${MEMORY_KIB / sockets} kB`);
    file(`node/node${socket}/distance`, distances.join(" "));
  }
}
