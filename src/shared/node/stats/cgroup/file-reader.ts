// Readings that both versions of cgroups have alike: files of one directory, and how often each is read.

import type { CgroupReads } from "../cgroup-figures.js";
import { oneNumber, type ListDirectories, type ReadText } from "../kernel-file.js";

export abstract class CgroupFileReader {
  protected readonly often: ReadText;
  protected readonly settled: ReadText;

  constructor(
    protected readonly read: ReadText,
    private readonly list: ListDirectories,
    { often = read, settled = read }: CgroupReads = {},
  ) {
    this.often = often;
    this.settled = settled;
  }

  abstract directory(path: string): string;

  exists(path: string): boolean {
    return this.processesText(path) !== undefined;
  }

  children(path: string): readonly string[] {
    return this.list(this.directory(path));
  }

  processes(path: string): readonly number[] {
    return (this.processesText(path) ?? "").split("\n").flatMap((line) => (line === "" ? [] : [Number(line)]));
  }

  protected number(file: string): number {
    return oneNumber(this.read(file)) ?? 0;
  }

  private processesText(path: string): string | undefined {
    return this.read(`${this.directory(path)}/cgroup.procs`);
  }
}
