import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * What measures memory collects all garbage again and again, which takes as long as the heap of its process is large: 75 MB in one that has
 * just begun, 270 MB where thirty files have left what they loaded. So these begin.
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
 * The files that took longest in a run of the whole suite, the longest first. They start before all others of their project, also without
 * earlier measurements, so that no worker is left alone with one at the end.
 */
const LONG = [
  ...MEASURING,
  'acceptance/src/two-gateways.test.ts',
  'acceptance/src/bad-providers.test.ts',
  'acceptance/src/process.test.ts',
  'acceptance/src/faults/faults.test.ts',
  'acceptance/src/console.test.ts',
  'acceptance/src/store-failures.test.ts',
  'acceptance/src/promise-of-every-answer.test.ts',
  'acceptance/src/first-minute.test.ts',
  'acceptance/src/batches.test.ts',
  'acceptance/src/hang-ups.test.ts',
  'acceptance/src/cli-walk.test.ts',
  'acceptance/src/mcp.test.ts',
  'acceptance/src/openai-sdk-videos.test.ts',
  'acceptance/src/crash.test.ts',
  'acceptance/src/every-dialect.test.ts',
  'acceptance/src/workers.test.ts',
  'acceptance/src/rolling-upgrade.test.ts',
  'acceptance/src/own-models.test.ts',
  'acceptance/src/two-instances.test.ts',
  'acceptance/src/company.test.ts',
  'acceptance/src/openai-sdk-files.test.ts',
  'acceptance/src/openai-document.test.ts',
  'acceptance/src/anchoring.test.ts',
  'acceptance/src/storing-off.test.ts',
  'acceptance/src/realtime.test.ts',
  'acceptance/src/money-under-concurrency.test.ts',
  'acceptance/src/openai-sdk-responses.test.ts',
  'acceptance/src/receipts-of-every-kind.test.ts',
  'acceptance/src/bad-input.test.ts',
  'acceptance/src/plans-journey.test.ts',
  'acceptance/src/lost-second-factor.test.ts',
  'acceptance/src/server-package.test.ts',
  'acceptance/src/no-spend-without-lanes.test.ts',
  'acceptance/src/payment-storm.test.ts',
  'acceptance/src/key-lifecycle.test.ts',
  'acceptance/src/openai-sdk-provider.test.ts',
  'acceptance/src/operator-commands.test.ts',
  'acceptance/src/idle.test.ts',
  'acceptance/src/log-attacks.test.ts',
  'acceptance/src/translation-losses.test.ts',
  'acceptance/src/live-invoice.test.ts',
  'server/src/app/lane-recovery.test.ts',
  'server/src/inference/batches/batches.test.ts',
  'server/src/adapters/lanes/model/model.test.ts',
  'server/src/app/http/every-operation.test.ts',
  'server/src/adapters/queue/bullmq.test.ts',
  'server/src/inference/calls/large-answers.test.ts',
  'server/src/adapters/postgres/embedded-postgres.test.ts',
  'server/src/adapters/lanes/redis/redis-cluster.test.ts',
  'server/src/community/emails/emails.test.ts',
  'server/src/inference/calls/usage-said.test.ts',
  'server/src/inference/calls/broken-answers.test.ts',
  'server/src/app/http/webhook-events.test.ts',
  'server/src/receipts/anchors/anchor-worker.test.ts',
  'server/src/app/http/limits.test.ts',
  'server/src/adapters/lanes/redis/redis-lanes.test.ts',
  'server/src/app/http/plans.test.ts',
  'server/src/money/plans/plans.test.ts',
  'server/src/app/http/account-safety.test.ts',
  'server/src/inference/calls/hang-ups.test.ts',
  'server/src/app/http/event-registrations.test.ts',
  'server/src/receipts/log/audit-log.test.ts',
  'server/src/adapters/timers/postgres-timers.test.ts',
  'server/src/inference/calls/sse-filter.test.ts',
  'server/src/app/http/busy-store.test.ts',
  'server/src/app/http/management-scopes.test.ts',
  'server/src/inference/calls/late-providers.test.ts',
  'server/src/app/http/webhooks.test.ts',
  'server/src/money/plans/auto-topup.test.ts',
  'server/src/money/budgets/budgets.test.ts',
  'server/src/app/http/members.test.ts',
  'server/src/money/plans/sandbox-money.test.ts',
  'server/src/adapters/redis/connect.test.ts',
  'server/src/app/http/conversations.test.ts',
  'server/src/app/http/files.test.ts',
  'server/src/app/http/mfa.test.ts',
  'server/src/app/http/passkeys.test.ts',
  'server/src/kernel/question-thread.test.ts',
  'server/src/money/plans/money-agrees.test.ts',
  'server/src/app/workspace-roles.test.ts',
  'server/src/inference/calls/realtime/client-events.test.ts',
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
