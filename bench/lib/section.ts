// A section of the bench: what it measures, under a name of the command line, and how its tables look.
// Invariant: run measures and prints no table; report only formats, so that equal results give equal tables.

import type { ProgramPackage } from "../../tools/standalone/packages.js";
import { startNodeUnderTest, type NodeOptions, type NodeUnderTest } from "./node-under-test.js";
import type { Report } from "./page.js";
import { benchFolder } from "./places.js";

export interface Section<Result = unknown> {
  /** As on the command line, and the key of the result in the JSON file. */
  readonly name: string;
  /** Runs on the node that several sections share. Before another section starts, that node is stopped. */
  readonly sharesNode?: true;
  /** Debian packages that it needs beside those of `npm start`. */
  readonly packages?: readonly ProgramPackage[];
  run(nodes: Nodes): Promise<Result>;
  report(result: Result): Report[];
}

/** A kubelet to measure. */
export interface Subject {
  /** Default ours. */
  entry?: string;
  /** More fields of KubeletConfiguration, for every node. */
  config?: Readonly<Record<string, unknown>>;
}

/** The nodes of one kubelet: one for static pods, which starts with the first section that needs it, and others. */
export class Nodes {
  private node: NodeUnderTest | undefined;

  constructor(readonly subject: Subject = {}) {}

  async shared(): Promise<NodeUnderTest> {
    this.node ??= await this.start("shared");
    return this.node;
  }

  async stopShared(): Promise<void> {
    const { node } = this;
    this.node = undefined;
    await node?.stop();
  }

  /** Runs on a node of its own, which is stopped afterwards; `name` is that of its folder. */
  async withOwn<T>(
    name: string,
    config: Readonly<Record<string, unknown>>,
    options: NodeOptions,
    measure: (node: NodeUnderTest) => Promise<T>,
  ): Promise<T> {
    const node = await this.start(name, config, options);
    try {
      return await measure(node);
    } finally {
      await node.stop();
    }
  }

  private start(
    name: string,
    config: Readonly<Record<string, unknown>> = {},
    options: NodeOptions = {},
  ): Promise<NodeUnderTest> {
    const { entry, config: own = {} } = this.subject;
    const all = { ...own, ...config };
    return startNodeUnderTest(benchFolder(name), all, entry === undefined ? options : { ...options, entry });
  }
}
