// Lists of CPUs as the kernel and the kubelet's fields write them: "0-3,7".

/** Far above the kernel's NR_CPUS (8192 at most): a typo must not make a list of four thousand million. */
const MAX_CPU = 65_535;
/** As Go reads numbers: with a plus sign, too. */
const PART = /^\+?(\d{1,10})(?:-\+?(\d{1,10}))?$/;

/** The CPUs, ascending and each once; "" is the empty list. Undefined when the text is no such list. */
export function parseCpuList(text: string): number[] | undefined {
  if (text === "") return [];
  const cpus = new Set<number>();
  for (const part of text.split(",")) {
    const match = PART.exec(part);
    if (match === null) return undefined;
    const first = Number(match[1]);
    const last = Number(match[2] ?? match[1]);
    if (last < first || last > MAX_CPU) return undefined;
    for (let cpu = first; cpu <= last; cpu++) cpus.add(cpu);
  }
  return [...cpus].sort((a, b) => a - b);
}

/** The shortest text: neighbours become a range. */
export function printCpuList(cpus: Iterable<number>): string {
  const ranges: [number, number][] = [];
  for (const cpu of [...new Set(cpus)].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] + 1 === cpu) last[1] = cpu;
    else ranges.push([cpu, cpu]);
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(",");
}
