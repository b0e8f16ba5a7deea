// A section of the bench: what it measures, under a name of the command line, and how its tables look.
// Invariant: run measures and prints no table; report only formats, so that equal results give equal tables.
import { startNodeUnderTest, type NodeUnderTest } from "./node-under-test.js";
import type { Report } from "./page.js";

export interface Section<Result = unknown> {
  /** As on the command line, and the key of the result in the JSON file. */
  readonly name: string;
  /** Runs on the node that several sections share. Before another section starts, that node is stopped. */
  readonly sharesNode?: true;
  /** Takes long: runs only when it is named. */
  readonly onlyByName?: true;
  run(shared: SharedNode): Promise<Result>;
  report(result: Result): Report[];
}

/** A node for static pods. It starts with the first section that needs it. */
export class SharedNode {
  private node: NodeUnderTest | undefined;

  async get(): Promise<NodeUnderTest> {
    this.node ??= await startNodeUnderTest("/run/nodelet-bench");
    return this.node;
  }

  async stop(): Promise<void> {
    const { node } = this;
    this.node = undefined;
    await node?.stop();
  }
}

type NodeOptions = Parameters<typeof startNodeUnderTest>;

/** Runs on a node of its own, which is stopped afterwards. */
export async function onOwnNode<T>(options: NodeOptions, measure: (node: NodeUnderTest) => Promise<T>): Promise<T> {
  const node = await startNodeUnderTest(...options);
  try {
    return await measure(node);
  } finally {
    await node.stop();
  }
}
