import type { MarketingEmailTemplateRecord } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { MarketingEmailTemplateRecordFields } from '../generated/fields.ts';
import { readText } from '../given-file.ts';
import { nullIfNone, type OrNone, orNone } from '../option-values.ts';
import { type Column, plainText, printRecord } from '../print.ts';
import { type PageOptions, printPages, withPages } from '../print-pages.ts';
import { type Variables, variable } from './variable.ts';

const COLUMNS: readonly Column<MarketingEmailTemplateRecord>[] = [
  { title: 'id', of: ({ template_id }) => template_id },
  { title: 'name', of: ({ name }) => name },
  { title: 'subject', of: ({ subject }) => subject },
  { title: 'changed', of: ({ updated_at }) => updated_at },
];

const LINES: readonly Column<MarketingEmailTemplateRecord>[] = [
  ...COLUMNS,
  { title: 'missing variables', of: ({ missing_variables }) => missing_variables.join(', ') || null },
  { title: 'version', of: ({ version }) => String(version), align: 'right' },
  { title: 'archived', of: ({ archived_at }) => archived_at },
];

interface Words {
  readonly name?: string;
  readonly subject?: string;
  readonly text?: string;
  readonly html?: OrNone<string>;
  readonly var?: Variables;
}

/** `emails templates …`: the texts of mails that are sent repeatedly. */
export function emailTemplates(emails: Command, perform: Perform): void {
  const templates = emails.command('templates').description('The texts of mails that are sent repeatedly');
  readTemplates(templates, perform);
  writeTemplates(templates, perform);
}

function readTemplates(templates: Command, perform: Perform): void {
  withJson(
    MarketingEmailTemplateRecordFields,
    withPages(
      templates.command('list').description('Templates, what was changed last first').option('--archived', 'only those that are archived'),
    ),
  ).action(perform(list));
  withJson(
    MarketingEmailTemplateRecordFields,
    templates
      .command('get')
      .description('One template')
      .argument('<template-id>')
      .option('--text', 'print its plain part and nothing else'),
  ).action(perform(get));
}

function writeTemplates(templates: Command, perform: Perform): void {
  withJson(
    MarketingEmailTemplateRecordFields,
    templates
      .command('create')
      .description('Store a template; `emails send --template` sends it')
      .argument('<name>', 'its name in the workspace')
      .requiredOption('--subject <text>', 'may have variables: {{first_name|there}}')
      .requiredOption('--text <file>', 'file with the plain part; - for stdin')
      .option('--html <file>', 'file with the HTML part (default: generated from the plain text)')
      .option('--var <name=value>', 'the value of a variable; may be repeated', variable),
  ).action(perform(create));
  withJson(
    MarketingEmailTemplateRecordFields,
    templates
      .command('update')
      .description('Change a template; what is not named stays, and so do mails that were made from it')
      .argument('<template-id>')
      .option('--name <name>', 'another name')
      .option('--subject <text>', 'another subject')
      .option('--text <file>', 'another plain part; - for stdin')
      .option(
        '--html <file>',
        'another HTML part; `none` to make it of the plain one',
        orNone('none', (path) => path),
      )
      .option('--var <name=value>', 'these variables and no others; may be repeated', variable),
  ).action(perform(update));
  templates.command('archive').description('Make no more mails from a template').argument('<template-id>').action(perform(archive));
}

async function list(world: CommandWorld, { options }: Typed<PageOptions & { archived?: true }>): Promise<void> {
  const { archived } = options;
  const client = await world.connect();
  await printPages(world, options, {
    columns: COLUMNS,
    list: (limit) => client.emails.templates.list({ archived, limit }, { signal: world.signal }),
  });
}

async function get(world: CommandWorld, { args: [id = ''], options }: Typed<{ text?: true }>): Promise<void> {
  const client = await world.connect();
  const template = await client.emails.templates.get(id, { signal: world.signal });
  if (options.text) world.out.write(plainText(template.text.endsWith('\n') ? template.text : `${template.text}\n`));
  else printRecord(world, template, LINES);
}

async function create(world: CommandWorld, { args: [name = ''], options }: Typed<Words>): Promise<void> {
  const { subject = '', text = '', html, var: variables } = options;
  const request = {
    ...{ name, subject, text: await readText(world, text) },
    ...(typeof html === 'string' && { html: await readText(world, html) }),
    ...(variables && { variables }),
  };
  const client = await world.connect();
  printRecord(world, await client.emails.templates.create(request, { signal: world.signal }), LINES);
}

async function update(world: CommandWorld, { args: [id = ''], options }: Typed<Words>): Promise<void> {
  const { name, subject, text, var: variables } = options;
  const html = nullIfNone(options.html);
  const changes = {
    ...{ name, subject, variables },
    text: text === undefined ? undefined : await readText(world, text),
    html: typeof html === 'string' ? await readText(world, html) : html,
  };
  if (Object.values(changes).every((value) => value === undefined))
    throw new Failure('usage', 'There is nothing to change.', EXIT.usage, '`tallygate emails templates update --help` lists what can be.');
  const client = await world.connect();
  printRecord(world, await client.emails.templates.update(id, changes, { signal: world.signal }), LINES);
}

async function archive(world: CommandWorld, { args: [id = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect();
  const { name } = await client.emails.templates.archive(id, { signal: world.signal });
  world.err.write(plainText(`No mail is made from ${name} any more.\n`));
}
