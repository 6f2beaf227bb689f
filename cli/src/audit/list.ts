import type { AuditLogEntry } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { AuditLogEntryFields } from '../generated/fields.ts';
import { type Moment, moment, timeText } from '../option-values.ts';
import type { Column } from '../print.ts';
import { type PageOptions, printPages, withPages } from '../print-pages.ts';

interface Options extends PageOptions {
  readonly action?: string;
  readonly since?: Moment;
  readonly until?: Moment;
  readonly account?: string;
}

const COLUMNS: readonly Column<AuditLogEntry>[] = [
  { title: 'time', of: ({ created_at }) => created_at },
  { title: 'action', of: ({ action }) => action },
  { title: 'by', of: ({ actor }) => [actor.kind, actor.id].filter(Boolean).join(' ') },
  { title: 'on', of: ({ target }) => `${target.kind} ${target.id}` },
  { title: 'from', of: ({ ip }) => ip, isSpare: true },
  { title: 'changes', of: ({ changes }) => changesText(changes) },
];

export const listAudit = (audit: Command, perform: Perform): Command =>
  withJson(
    AuditLogEntryFields,
    withPages(
      audit
        .command('list')
        .description('Who changed what in the account, newest first')
        .option('--action <name>', 'only this action, such as key.created')
        .option('--since <time>', 'not before: a time, a day, or a duration ago such as 7d', moment)
        .option('--until <time>', 'before: the same forms', moment)
        .option('--account <id>', 'another account, or `all`; for administrators'),
    ),
  ).action(perform(list));

async function list(world: CommandWorld, { options }: Typed<Options>): Promise<void> {
  const { action, since, until, account } = options;
  const { auditLog } = await world.connect();
  const { signal } = world;
  const time = (wanted: Moment | undefined) => wanted && timeText(wanted, world.now(), -1);
  const query = { action, from: time(since), to: time(until) };
  await printPages(world, options, {
    columns: COLUMNS,
    list: (limit) =>
      account === undefined
        ? auditLog.list({ ...query, limit }, { signal })
        : auditLog.listAll({ ...query, limit, ...(account !== 'all' && { account_id: account }) }, { signal }),
  });
}

/** `monthly_cap_usd: 10 → 25`; what is no pair of old and new is shown as it is. */
function changesText(changes: AuditLogEntry['changes']): string {
  const texts = Object.entries(changes).map(([name, value]) =>
    isPair(value) ? `${name}: ${valueText(value.from)} → ${valueText(value.to)}` : `${name}: ${valueText(value)}`,
  );
  return texts.join(', ') || '-';
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
const isPair = (value: unknown): value is { from: unknown; to: unknown } => isRecord(value) && 'from' in value && 'to' in value;
const valueText = (value: unknown): string =>
  typeof value === 'string' ? value : value === null || value === undefined ? '-' : JSON.stringify(value);
