import { writeSync } from 'node:fs';
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node';

interface Totals {
  passed: number;
  failed: number;
  skipped: number;
}

/**
 * Ends the output of a run with one line for machines: `N passed, N failed`, and `, N skipped` where there are any. A test that passed only
 * when it was repeated counts as failed, and is named: it is to be mended.
 */
export class TotalsReporter implements Reporter {
  #totals: Totals = { passed: 0, failed: 0, skipped: 0 };
  #repeated: string[] = [];

  onInit(): void {
    // Other reporters, and what vitest says while it closes, come before: nothing is written after the exit event.
    process.once('exit', () => void writeSync(process.stdout.fd, [...this.#repeated, totalsLine(this.#totals), ''].join('\n')));
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const repeated = modules.flatMap((module) => [...module.children.allTests()].filter(isRepeated));
    this.#repeated = repeated.map(repeatedLine);
    this.#totals = countTotals(modules, unhandledErrors);
    if (repeated.length > 0) process.exitCode = 1;
  }
}

/**
 * A file that fails to load and a hook that fails count as one failed test each, and so does an error that no test caught: a run that fails
 * never ends in `0 failed`.
 */
function countTotals(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): Totals {
  const totals: Totals = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
  for (const module of modules) {
    if (module.errors().length > 0) totals.failed += 1;
    for (const suite of module.children.allSuites()) if (suite.errors().length > 0) totals.failed += 1;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (isRepeated(test)) {
        totals.failed += 1;
        continue;
      }
      // A test that never got to run (its hook failed, the run was cut short) has proven nothing.
      totals[state === 'pending' ? 'skipped' : state] += 1;
    }
  }
  return totals;
}

const isRepeated = (test: TestCase): boolean => test.diagnostic()?.flaky === true;

function totalsLine({ passed, failed, skipped }: Totals): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

function repeatedLine(test: TestCase): string {
  const [error] = test.result().errors ?? [];
  return `passed at the second try: ${test.module.moduleId} > ${test.fullName}${error ? `: ${error.message}` : ''}`;
}
