// Writes tools/config-schema/kubelet-config.schema.json from the table of config fields. Run it after a field has
// changed: npm run build && node dist/tools/config-schema/make-config-schema.js

import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { configSchemaText } from "../../src/main/command/config/json-schema.js";

const PROJECT = resolve(import.meta.dirname, "../../..");

writeFileSync(join(PROJECT, "tools/config-schema/kubelet-config.schema.json"), configSchemaText());
