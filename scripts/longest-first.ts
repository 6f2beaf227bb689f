import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * What measures memory collects all garbage again and again, which takes as long as the heap of its process is large: 0.1 s of CPU time in
 * one that has just begun, 0.5 s where fifty files have left what they loaded. So these begin.
 */
const MEASURING = [
  'server/src/app/http/large-requests.test.ts',
  'server/src/app/http/large-streams.test.ts',
  'server/src/inference/calls/answer-turns.test.ts',
  'server/src/app/http/hostile-bodies.test.ts',
  'server/src/community/marketing/import-people.test.ts',
  'server/src/app/http/responses.test.ts',
];

/**
 * Files that take 10 s and more, the longest first. They start before all others of their project, also without earlier measurements, so
 * that no worker is left alone with one at the end.
 */
const LONG = [
  ...MEASURING,
  'acceptance/src/bad-providers.test.ts',
  'acceptance/src/crash.test.ts',
  'acceptance/src/faults/faults.test.ts',
  'acceptance/src/process.test.ts',
  'acceptance/src/two-gateways.test.ts',
  'acceptance/src/store-failures.test.ts',
  'acceptance/src/batches.test.ts',
  'acceptance/src/openai-sdk-videos.test.ts',
  'acceptance/src/anchoring.test.ts',
  'acceptance/src/openai-sdk-responses.test.ts',
  'acceptance/src/hang-ups.test.ts',
  'acceptance/src/first-minute.test.ts',
  'acceptance/src/two-instances.test.ts',
  'acceptance/src/storing-off.test.ts',
  'acceptance/src/money-under-concurrency.test.ts',
  'acceptance/src/every-dialect.test.ts',
  'acceptance/src/idle.test.ts',
  'acceptance/src/key-lifecycle.test.ts',
  'acceptance/src/mcp.test.ts',
  'acceptance/src/plans-journey.test.ts',
  'acceptance/src/openai-sdk-files.test.ts',
  'acceptance/src/own-models.test.ts',
  'acceptance/src/cli-walk.test.ts',
  'acceptance/src/no-spend-without-lanes.test.ts',
  'acceptance/src/lost-second-factor.test.ts',
  'acceptance/src/operator-commands.test.ts',
  'server/src/money/plans/plans.test.ts',
  'server/src/community/emails/emails.test.ts',
  'server/src/inference/batches/batches.test.ts',
  'server/src/money/plans/sandbox-money.test.ts',
  'server/src/app/http/plans.test.ts',
  'server/src/app/http/account-safety.test.ts',
  'server/src/app/http/every-operation.test.ts',
  'server/src/money/budgets/budgets.test.ts',
  'server/src/inference/calls/large-answers.test.ts',
  'server/src/app/http/event-registrations.test.ts',
  'server/src/adapters/lanes/redis/redis-cluster.test.ts',
  'server/src/adapters/lanes/model/model.test.ts',
  'server/src/app/workspace-roles.test.ts',
  'server/src/adapters/postgres/embedded-postgres.test.ts',
  'server/src/inference/calls/late-providers.test.ts',
  'server/src/app/http/account.test.ts',
];

/** Projects in turn, so that files that share a process follow each other; the longest files of each first. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONG.findIndex((path) => moduleId.endsWith(`/${path}`));
      return at === -1 ? LONG.length : at;
    };
    const ofProject = ({ project }: TestSpecification): string => `${project.config.sequence.groupOrder} ${project.name}`;
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => ofProject(a).localeCompare(ofProject(b)) || rank(a) - rank(b));
  }
}
