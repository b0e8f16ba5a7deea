// The store of the kubelet's own API server (src/workers/apiserver/store/store.ts), which the world sees once it is
// open.

import { Store as OwnStore, type StoreOptions } from "../../../src/workers/apiserver/store/store.js";
import { machine } from "../world/machine.js";

export const Store = {
  async open(options: StoreOptions): Promise<OwnStore> {
    const store = await OwnStore.open(options);
    machine.ownApi?.opened(store);
    return store;
  },
};
