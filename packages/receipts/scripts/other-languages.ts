import { spawnSync } from 'node:child_process';

/** What the verifiers in other languages need. */
const PYTHON = [3, 9] as const;
const GO = [1, 22] as const;

/** Whether this machine has a Python that runs the verifier in it. */
export const hasPython = (): boolean => isAtLeast(PYTHON, 'python3', '--version');

/** Whether this machine has a Go that builds the verifier in it; an older one knows less of the language. */
export const hasGo = (): boolean => isAtLeast(GO, 'go', 'version');

function isAtLeast([major, minor]: readonly [number, number], program: string, ...args: readonly string[]): boolean {
  const { stdout } = spawnSync(program, args, { encoding: 'utf8' });
  const [, first, second] = /(\d+)\.(\d+)/.exec(stdout ?? '') ?? [];
  return Number(first) > major || (Number(first) === major && Number(second) >= minor);
}
