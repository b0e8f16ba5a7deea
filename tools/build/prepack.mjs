// `npm pack`: the tarball carries compiled code, so that `npm install -g` builds nothing.

import { prepare } from "./bootstrap.mjs";

await prepare({ environment: false });
