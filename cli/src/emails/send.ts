import type { MarketingEmailSendRequest } from '@tallygate/sdk';
import { type Command, Option } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { MarketingEmailRecordFields } from '../generated/fields.ts';
import { readText } from '../given-file.ts';
import { type FilterOptions, filterOf, withFilter } from '../people/filter-options.ts';
import { printRecord } from '../print.ts';
import { EMAIL_LINES } from './show-email.ts';
import { type Variables, variable } from './variable.ts';

interface Options extends FilterOptions {
  readonly subject?: string;
  readonly text?: string;
  readonly template?: string;
  readonly html?: string;
  readonly person?: readonly string[];
  readonly everybody?: boolean;
  readonly var?: Variables;
  readonly at?: string;
  readonly replyTo?: string;
  readonly preview?: boolean;
  readonly test?: boolean;
  readonly yes?: boolean;
}

export const sendEmail = (emails: Command, perform: Perform): Command =>
  withJson(
    MarketingEmailRecordFields,
    withFilter(
      emails
        .command('send')
        .description('Send a mail to people: to some by their ids, or to all that fit a filter')
        .option('--subject <text>', 'may hold variables: {{first_name|there}}')
        .option('--text <file>', 'file with the plain part')
        .option('--html <file>', 'file with the HTML part (default: generated from the plain text)')
        .addOption(new Option('--template <id>', 'in the words of a stored template instead').conflicts(['subject', 'text', 'html']))
        .option('--person <id...>', 'these people')
        .option('--everybody', 'all there are')
        .option('--var <name=value>', 'a further variable; repeatable', variable)
        .option('--reply-to <address>', 'where answers go')
        .option('--at <time>', 'not before this time, such as 2026-12-01T08:00:00Z')
        .addOption(new Option('--preview', 'show the mail to the first of them and send nothing').conflicts('test'))
        .option('--test', 'send one test mail to yourself only')
        .option('--yes', 'do not ask'),
    ),
  ).action(perform(send));

async function send(world: CommandWorld, { options }: Typed<Options>): Promise<void> {
  const { at, var: variables, replyTo } = options;
  const request = {
    to: audienceOf(options),
    ...(await wordsOf(world, options)),
    ...(variables && { variables }),
    ...(at && { scheduled_at: at }),
    ...(replyTo && { reply_to: replyTo }),
  };
  const client = await world.connect();
  const call = { signal: world.signal };
  if (options.preview || !(options.test || options.yes)) {
    const { recipients, preview } = await client.emails.send({ ...request, mode: 'preview' }, call);
    world.err.write(preview ? `To ${preview.to}\nSubject: ${preview.subject}\n\n${preview.text}\n` : 'Nobody matches.\n');
    world.err.write(`${recipients} recipients.\n`);
    if (options.preview) return;
    await confirm(world, recipients);
  }
  const { email } = await client.emails.send({ ...request, mode: options.test ? 'test' : 'send' }, call);
  if (email) printRecord(world, email, EMAIL_LINES);
}

function audienceOf(options: Options): MarketingEmailSendRequest['to'] {
  const filter = filterOf(options);
  const isFiltered = Object.keys(filter).length > 0;
  if ([options.person !== undefined, options.everybody === true, isFiltered].filter(Boolean).length !== 1)
    throw new Failure('usage', 'Say to whom: --person, a filter such as --event, or --everybody.', EXIT.usage);
  return options.person ? { person_ids: [...options.person] } : { filter };
}

async function wordsOf(
  world: CommandWorld,
  { template, subject, text, html }: Options,
): Promise<Pick<MarketingEmailSendRequest, 'template_id' | 'subject' | 'text' | 'html'>> {
  if (template !== undefined) return { template_id: template };
  if (subject === undefined || text === undefined) throw new Failure('usage', 'Say what: --subject and --text, or --template.', EXIT.usage);
  return { subject, text: await readText(world, text), ...(html !== undefined && { html: await readText(world, html) }) };
}

async function confirm(world: CommandWorld, recipients: number): Promise<void> {
  if (!world.input.isTty)
    throw new Failure('usage', 'A sent mail cannot be taken back.', EXIT.usage, 'Give --yes to skip the confirmation.');
  const answer = await world.input.ask(`Send to ${recipients}? [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new Failure('canceled', 'Nothing was sent.', EXIT.failure);
}
