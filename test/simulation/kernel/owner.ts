// The process or thread to which a callback belongs. A dead owner's callbacks never run: that is what a kill is here.

export class Owner {
  private alive = true;
  private readonly children = new Set<Owner>();
  private readonly deaths = new Set<() => void>();

  /** An owner ends with its parent, as a thread with its process. */
  constructor(
    readonly name: string,
    private readonly parent?: Owner,
  ) {
    parent?.children.add(this);
  }

  get isAlive(): boolean {
    return this.alive;
  }

  /** Calls `fn` at the end: the other ends of connections, locks and watches see it. @returns takes it back */
  onDeath(fn: () => void): () => void {
    this.deaths.add(fn);
    return () => void this.deaths.delete(fn);
  }

  kill(): void {
    if (!this.alive) return;
    this.alive = false;
    this.parent?.children.delete(this);
    for (const child of [...this.children]) child.kill();
    for (const fn of [...this.deaths]) fn();
    this.deaths.clear();
  }
}
