// A workflow of GitHub as YAML has it, before it is checked.

export interface Step {
  id?: string;
  if?: string;
  name?: string;
  uses?: string;
  run?: string;
  shell?: string;
  with?: Record<string, unknown>;
  env?: Record<string, string>;
}

export interface Job {
  uses?: string;
  needs?: string | string[];
  if?: string;
  environment?: string | { name: string };
  outputs?: Record<string, string>;
  permissions?: Record<string, string>;
  "runs-on"?: string | string[];
  "timeout-minutes"?: number | string;
  strategy?: { matrix: Record<string, unknown> & { include?: Record<string, string | number>[] } };
  env?: Record<string, string>;
  steps?: Step[];
}

export interface Workflow {
  on: Record<string, unknown>;
  permissions?: Record<string, string>;
  env?: Record<string, string>;
  jobs: Record<string, Job>;
}
