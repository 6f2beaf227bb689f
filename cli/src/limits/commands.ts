import type { LimitStatus, SpendingLimit } from '@tallygate/sdk';
import { type Command, Option } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { LimitKindValues, LimitPeriodValues, LimitStatusFields, SpendingLimitFields } from '../generated/fields.ts';
import { livemodeOf, type ModeOptions, withMode } from '../mode.ts';
import { percents, usdAmount, wholeNumber } from '../option-values.ts';
import { type Column, plainText, printRecord } from '../print.ts';
import { type PageOptions, printPages, withPages } from '../print-pages.ts';

const shown = (figure: string | number | null): string | number => figure ?? 'none';

const COLUMNS: readonly Column<SpendingLimit>[] = [
  { title: 'id', of: ({ limit_id }) => limit_id },
  { title: 'kind', of: ({ kind }) => kind },
  { title: 'subject', of: ({ subject, kind }) => subject ?? (kind === 'account' ? '' : 'each') },
  { title: 'period', of: ({ period }) => period },
  { title: 'cap', of: ({ cap_usd }) => shown(cap_usd), align: 'right' },
  { title: 'requests/min', of: ({ requests_per_minute }) => shown(requests_per_minute), align: 'right' },
  { title: 'tokens/min', of: ({ tokens_per_minute }) => shown(tokens_per_minute), align: 'right' },
];
const LINES: readonly Column<SpendingLimit>[] = COLUMNS.map((column) => ({
  ...column,
  title: column.title.replace(/^./, (a) => a.toUpperCase()),
}));
const STATUS: readonly Column<LimitStatus>[] = [
  { title: 'Limit', of: ({ limit }) => `${limit.kind}, by ${limit.period}` },
  { title: 'Subject', of: ({ subject }) => subject ?? 'the account' },
  { title: 'Cap', of: ({ limit }) => shown(limit.cap_usd) },
  { title: 'Spent', of: ({ spent_usd }) => spent_usd },
  { title: 'Held', of: ({ held_usd }) => held_usd },
  { title: 'Remaining', of: ({ remaining_usd }) => shown(remaining_usd) },
  { title: 'Resets', of: ({ resets_at }) => resets_at ?? 'never' },
];

export function limitCommands(limits: Command, perform: Perform): void {
  withJson(SpendingLimitFields, withPages(limits.command('list').description('List limits, newest first'))).action(perform(list));
  withJson(
    SpendingLimitFields,
    limits
      .command('set')
      .description('Set a limit, in place of the one of the same kind, subject and period')
      .addOption(new Option('--kind <kind>', 'whose spending').choices(LimitKindValues).makeOptionMandatory())
      .option('--subject <subject>', 'an id, a run, an end user, a tag as name=value; each of the kind when left out')
      .addOption(new Option('--period <period>', 'in the time zone of the account').choices(LimitPeriodValues).makeOptionMandatory())
      .option('--cap <usd>', 'the most that may be spent in the period, USD', usdAmount)
      .option('--rpm <n>', 'requests per minute', wholeNumber())
      .option('--tpm <n>', 'tokens per minute', wholeNumber())
      .option('--alerts <percents>', 'when to tell webhooks, such as 50,80,100 (the default); or none', percents),
  ).action(perform(set));
  withJson(
    LimitStatusFields,
    withMode(
      limits
        .command('show')
        .description('What is spent under a limit')
        .argument('<limit>', 'id')
        .option('--subject <subject>', 'whose spending, for a limit of each'),
    ),
  ).action(perform(show));
  limits.command('delete').description('Delete a limit').argument('<limit>', 'id').action(perform(remove));
}

async function list(world: CommandWorld, { options }: Typed<PageOptions>): Promise<void> {
  const { limits } = await world.connect();
  await printPages(world, options, { columns: COLUMNS, list: (limit) => limits.list({ limit }, { signal: world.signal }) });
}

interface SetOptions {
  readonly kind: SpendingLimit['kind'];
  readonly subject?: string;
  readonly period: SpendingLimit['period'];
  readonly cap?: string;
  readonly rpm?: number;
  readonly tpm?: number;
  readonly alerts?: number[];
}

async function set(world: CommandWorld, { options }: Typed<SetOptions & Record<string, unknown>>): Promise<void> {
  const { kind, subject = null, period, cap = null, rpm = null, tpm = null, alerts } = options;
  const { limits } = await world.connect('session');
  const figures = { cap_usd: cap, requests_per_minute: rpm, tokens_per_minute: tpm };
  const limit = { kind, subject, period, ...figures, ...(alerts !== undefined && { alert_thresholds: alerts }) };
  printRecord(world, await limits.set(limit, { signal: world.signal }), LINES);
}

async function show(world: CommandWorld, { args: [id = ''], options }: Typed<ModeOptions & { readonly subject?: string }>): Promise<void> {
  const { limits } = await world.connect();
  const { subject } = options;
  const query = { ...livemodeOf(options), ...(subject !== undefined && { subject }) };
  printRecord(world, await limits.get(id, query, { signal: world.signal }), STATUS);
}

async function remove(world: CommandWorld, { args: [id = ''] }: Typed<object>): Promise<void> {
  const { limits } = await world.connect('session');
  await limits.delete(id, { signal: world.signal });
  world.err.write(plainText(`Deleted ${id}.\n`));
}
