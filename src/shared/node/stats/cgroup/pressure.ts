// Pressure stall information: the kernel's cpu.pressure, memory.pressure and io.pressure.
//   some avg10=0.00 avg60=0.00 avg300=0.00 total=0
//   full avg10=0.00 avg60=0.00 avg300=0.00 total=0

import type { CgroupPressure, Pressure, PressureData } from "../cgroup-figures.js";

const CALM: PressureData = { total: 0, avg10: 0, avg60: 0, avg300: 0 };
/** Shown if the kernel reports nothing, as in upstream. */
const NO_PRESSURE: Pressure = { full: CALM, some: CALM };
export const NO_PRESSURES: CgroupPressure = { cpu: NO_PRESSURE, memory: NO_PRESSURE, io: NO_PRESSURE };

export function parsePressure(text: string | undefined): Pressure {
  if (text === undefined) return NO_PRESSURE;
  return { full: lineOf(text, "full"), some: lineOf(text, "some") };
}

function lineOf(text: string, kind: string): PressureData {
  const line = text.split("\n").find((each) => each.startsWith(`${kind} `));
  if (line === undefined) return CALM;
  const fields = new Map(line.split(" ").map((word) => [word.split("=")[0], Number(word.split("=")[1])]));
  const of = (name: string): number => fields.get(name) ?? 0;
  return { total: of("total"), avg10: of("avg10"), avg60: of("avg60"), avg300: of("avg300") };
}
