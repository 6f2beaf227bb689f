import type { MarketingInviteBatchRequest } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { MarketingInviteBatchResponseFields } from '../generated/fields.ts';
import { readText } from '../given-file.ts';
import { type Moment, moment, timeText, usdAmount, wholeNumber } from '../option-values.ts';
import { type FilterOptions, filterOf, withFilter } from '../people/filter-options.ts';
import { showBatch } from './show-batch.ts';

interface Options extends Omit<FilterOptions, 'plan'> {
  readonly to?: string;
  readonly everybody?: boolean;

  readonly shared?: number;
  readonly plan?: NonNullable<MarketingInviteBatchRequest['plan_id']>;
  readonly days?: number;
  readonly credit?: string;
  readonly expires: Moment;
  readonly subject?: string;
  readonly message?: string;
}

export const sendInvites = (invites: Command, perform: Perform): Command =>
  withJson(
    MarketingInviteBatchResponseFields,
    withFilter(
      invites
        .command('send')
        .description('Invite people by mail, or create one shared code; for administrators')
        .argument('<name>', 'the batch’s name, for the team')
        .requiredOption('--expires <time>', 'until when codes work: a time, a day, or a duration such as 30d', moment)
        .option('--to <file>', 'recipients, a line each: an address, or `Ada Lovelace <ada@example.com>`; - for stdin')
        .option('--everybody', 'all people; to some of them: a filter such as --event')
        .option('--shared <n>', 'one code instead, which this many people can activate', wholeNumber())
        .option('--plan <plan>', 'give this plan (pro, scale, enterprise) for --days')
        .option('--days <n>', 'for this many days', wholeNumber())
        .option('--credit <usd>', 'add this to the balance', usdAmount)
        .option('--subject <text>', 'of the mail')
        .option('--message <file>', 'text of the mail; {{name}} is the recipient’s name'),
      '--plan-tier',
    ),
  ).action(perform(send));

async function send(world: CommandWorld, { args: [name = ''], options }: Typed<Options>): Promise<void> {
  const { to, message, shared, plan, days, credit, subject } = options;
  const recipients = to === undefined ? undefined : recipientsIn(await readText(world, to));
  const text = message === undefined ? undefined : (await readText(world, message)).trim();
  const client = await world.connect('session');
  const batch = await client.invites.createBatch(
    {
      ...{ name, recipients, filter: audienceOf(options), subject, message: text, expires_at: timeText(options.expires, world.now()) },
      ...{ shared_uses: shared, plan_id: plan, trial_days: days, credit_usd: credit },
    },
    { signal: world.signal },
  );
  if (batch.code === undefined || world.jsonFields) return showBatch(world, batch);
  world.out.write(`${batch.code}\n`);
  world.err.write(`Batch ${batch.batch_id}. Keep the code now: it is not shown again.\n`);
}

/** A filter that was left empty must not make it everybody. */
function audienceOf({ plan: _given, planTier, ...options }: Options): MarketingInviteBatchRequest['filter'] {
  const filter = filterOf({ ...options, ...(planTier !== undefined && { plan: planTier }) });
  const isFiltered = Object.keys(filter).length > 0;
  if ([options.to !== undefined, options.shared !== undefined, options.everybody === true, isFiltered].filter(Boolean).length !== 1)
    throw new Failure('usage', 'Name the recipients: --to, a filter such as --event, --everybody, or --shared.', EXIT.usage);
  return options.everybody || isFiltered ? filter : undefined;
}

/** `Ada Lovelace <ada@example.com>`, or the address alone. */
function recipientsIn(text: string): { email: string; name?: string }[] {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const recipients = lines.filter(Boolean).map((line) => {
    const [, name = '', email = line] = /^(.*?)\s*<([^<>]+)>$/.exec(line) ?? [];
    return { email, ...(name && { name }) };
  });
  if (recipients.length === 0) throw new Failure('usage', 'The file has no recipients.', EXIT.usage);
  return recipients;
}
