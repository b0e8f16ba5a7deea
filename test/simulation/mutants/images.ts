// Faults in pulls of images and their credentials.

import type { Mutant } from "../driver/mutant.js";

export const IMAGE_MUTANTS: readonly Mutant[] = [
  {
    name: "an image that a secret has pulled is for every pod",
    file: "src/main/containers/images/pull-records/recorded-access.ts",
    text: "if (known.nodePodsAccessible === true)",
    replacement: "if (known.nodePodsAccessible !== false)",
  },
  {
    name: "the intent of a pull is not written",
    file: "src/main/containers/images/pull-records/recorded-access.ts",
    text: "await this.intents.write(image, intentText({ image }));",
    replacement: "await Promise.resolve(intentText({ image }));",
  },
  {
    name: "credentials are kept by the name of an account",
    file: "src/main/containers/images/credential-providers/cache-key.ts",
    text: "const key = [namespace, name, uid, sorted];",
    replacement: 'const key = [namespace === "" && uid, name, sorted];',
  },
  {
    name: "an image is for each account of that name",
    file: "src/main/containers/images/pull-records/record.ts",
    text: "return a.uid === b.uid && a.namespace === b.namespace && a.name === b.name;",
    replacement: "return a.name === b.name;",
  },
  {
    name: "images are pulled in parallel though they must not be",
    file: "src/main/containers/images/node-images.ts",
    text: "settings.serializeImagePulls ? 1 : settings.maxParallelImagePulls",
    replacement: "settings.serializeImagePulls ? 2 : settings.maxParallelImagePulls",
  },
  {
    name: "an image that came during the wait is pulled again",
    file: "src/main/containers/images/pulls.ts",
    text: "        if (waited && !(await request.stillNeeded())) return undefined;\n",
    replacement: "",
  },
  {
    name: "the turn of a pull that was given up is not given back",
    file: "src/main/containers/images/pulls.ts",
    text: "        giveBack();\n",
    replacement: "        if (!signal.aborted) giveBack();\n",
  },
];
