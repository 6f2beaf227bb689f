import type { MarketingPeopleActionRequest } from '@tallygate/sdk';
import { type Command, Option } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { MarketingPersonRecordFields, PersonStageValues } from '../generated/fields.ts';
import { printRecord } from '../print.ts';
import { PERSON_LINES } from './show-person.ts';

interface Options {
  readonly reason?: string;
  readonly yes?: boolean;
}

interface Verb {
  readonly name: string;
  readonly description: string;
  /** The argument after the person's id. */
  readonly argument?: string;
  readonly options?: readonly Option[];
  request(value: string, options: Options): MarketingPeopleActionRequest;
}

const reason = (description: string) => new Option('--reason <text>', description);
const because = ({ reason: given }: Options) => (given === undefined ? {} : { reason: given });

const VERBS: readonly Verb[] = [
  { name: 'tag', description: 'Add a tag', argument: '<tag>', request: (tag) => ({ action: 'tag', tag }) },
  { name: 'untag', description: 'Remove a tag', argument: '<tag>', request: (tag) => ({ action: 'untag', tag }) },
  {
    name: 'assign',
    description: 'Set their owner: the id of a user, or none',
    argument: '<user-id>',
    request: (owner) => ({ action: 'assign_owner', owner: owner === 'none' ? null : owner }),
  },
  {
    name: 'status',
    description: `Set the stage: ${PersonStageValues.join(', ')}`,
    argument: '<status>',
    request: (status) => ({ action: 'set_status', status: stageOf(status) }),
  },
  { name: 'note', description: 'Add a note to the history', argument: '<text>', request: (note) => ({ action: 'note', note }) },
  {
    name: 'merge',
    description: 'Merge them into another person',
    argument: '<into-person-id>',
    request: (into) => ({ action: 'merge', into }),
  },
  {
    name: 'unsubscribe',
    description: 'Suppress mails to them',
    options: [reason('the reason, for the history')],
    request: (_value, options) => ({ action: 'unsubscribe', ...because(options) }),
  },
  {
    name: 'resubscribe',
    description: 'Send them mails again',
    options: [reason('why they get mails again, for the history').makeOptionMandatory()],
    request: (_value, { reason: given = '' }) => ({ action: 'resubscribe', reason: given }),
  },
  {
    name: 'erase',
    description: 'Delete all their marketing data, permanently',
    options: [reason('the reason, for the audit log'), new Option('--yes', 'do not ask')],
    request: (_value, options) => ({ action: 'erase', ...because(options) }),
  },
];

/** `people tag`, `people merge` …: a command for each action. */
export function personActions(people: Command, perform: Perform): void {
  for (const verb of VERBS) {
    const command = people.command(verb.name).description(verb.description).argument('<person-id>');
    if (verb.argument !== undefined) command.argument(verb.argument);
    for (const option of verb.options ?? []) command.addOption(option);
    withJson(MarketingPersonRecordFields, command).action(perform((world, typed: Typed<Options>) => act(world, verb, typed)));
  }
}

async function act(world: CommandWorld, verb: Verb, { args: [personId = '', value = ''], options }: Typed<Options>): Promise<void> {
  const request = verb.request(value, options);
  if (request.action === 'erase' && !options.yes) await confirmErasure(world, personId);
  const client = await world.connect();
  const { changed, person } = await client.people.act(personId, request, { signal: world.signal });
  if (person) printRecord(world, person, PERSON_LINES);
  if (!person) world.err.write('Erased.\n');
  else if (!changed) world.err.write('No change was needed.\n');
}

function stageOf(text: string): (typeof PersonStageValues)[number] {
  const stage = PersonStageValues.find((one) => one === text);
  if (stage === undefined)
    throw new Failure('usage', `There is no status "${text}".`, EXIT.usage, `They are ${PersonStageValues.join(', ')}.`);
  return stage;
}

async function confirmErasure(world: CommandWorld, personId: string): Promise<void> {
  if (!world.input.isTty) throw new Failure('usage', 'Erasing cannot be undone.', EXIT.usage, 'Give --yes to skip the confirmation.');
  const answer = await world.input.ask(`Erase ${personId} permanently? [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new Failure('canceled', 'Nothing was erased.', EXIT.failure);
}
