/** A number of JSON that is written with a fraction or an exponent: 80.0 is a quantity, and no integer. */
export class JsonDecimal {
  constructor(private readonly text: string) {}

  get number(): number {
    return Number(this.text);
  }

  toString(): string {
    return this.text;
  }
}
