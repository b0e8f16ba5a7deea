// Elements as values: what a view returns. Pure, so that views can be tested without a browser.
// Invariant: text stays text. There is no way to put markup, a style or a URL of another origin into a node.

export type Child = VNode | string | number | undefined | false;

export type Handler = (event: Event) => void;

export interface Props {
  /** Elements of one parent with keys keep their identity when their order changes. */
  key?: string;
  class?: string | undefined;
  /** Called for the event, by its name: `on: { click: … }`. */
  on?: Readonly<Record<string, Handler>>;
  /** Called once with the element (its type is the browser's). Its children are then its maker's. */
  own?: (element: object) => void;
  /** Other attributes; false and undefined: absent, true: empty. */
  [attribute: string]: unknown;
}

export interface VNode {
  readonly tag: string;
  readonly props: Props;
  readonly children: readonly (VNode | string)[];
}

export function h(tag: string, props: Props = {}, ...children: readonly (Child | readonly Child[])[]): VNode {
  const flat = children.flat() as readonly Child[];
  return {
    tag,
    props,
    children: flat
      .filter((child): child is VNode | string | number => child !== undefined && child !== false)
      .map((child) => (typeof child === "number" ? String(child) : child)),
  };
}
