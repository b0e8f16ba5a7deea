// A value that is created after its user: if two components need each other, one gets the other through this.

export class Later<Value extends object> {
  private made: Value | undefined;

  /** `name`: for the error. */
  constructor(private readonly name: string) {}

  set(value: Value): void {
    this.made = value;
  }

  /**
   * Bound: pass it on as a function. @throws Error before the value is created: a fault of the kubelet's construction
   */
  readonly get = (): Value => {
    if (this.made === undefined) throw new Error(`${this.name} is used before it is made`);
    return this.made;
  };
}
