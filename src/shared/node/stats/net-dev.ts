// Network counters by interface: /proc/<pid>/net/dev, of the network namespace that the process is in.
export interface InterfaceFigures {
  name: string;
  rxBytes: number;
  rxPackets: number;
  rxErrors: number;
  rxDropped: number;
  txBytes: number;
  txPackets: number;
  txErrors: number;
  txDropped: number;
}

/** Host ends of the pods' interfaces, and interfaces without a network. */
const LEFT_OUT = /^(lo$|veth|docker|nerdctl)/;

export function parseNetDev(text: string): InterfaceFigures[] {
  return text.split("\n").flatMap((line) => {
    const colon = line.indexOf(":");
    if (colon < 0) return [];
    const name = line.slice(0, colon).trim();
    if (LEFT_OUT.test(name)) return [];
    const values = line
      .slice(colon + 1)
      .trim()
      .split(/\s+/)
      .map(Number);
    const at = (index: number): number => values[index] ?? 0;
    return [
      {
        name,
        rxBytes: at(0),
        rxPackets: at(1),
        rxErrors: at(2),
        rxDropped: at(3),
        txBytes: at(8),
        txPackets: at(9),
        txErrors: at(10),
        txDropped: at(11),
      },
    ];
  });
}
