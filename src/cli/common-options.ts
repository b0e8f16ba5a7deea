// Options that several commands have, as commander reads them.

export interface Namespaced {
  namespace?: string;
}

export interface Watched {
  watch?: boolean;
}
