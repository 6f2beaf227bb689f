import type { BetaInviteActivationResponse } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { type Column, printRecord } from '../print.ts';

interface Options {
  readonly email: string;
  readonly name?: string;
}

const LINES: readonly Column<BetaInviteActivationResponse>[] = [
  { title: 'id', of: ({ activation_id }) => activation_id },
  { title: 'plan', of: ({ plan_id }) => plan_id },
  { title: 'until', of: ({ plan_until }) => plan_until },
  { title: 'credit usd', of: ({ credit_usd }) => credit_usd },
];

export const activateInvite = (invites: Command, perform: Perform): Command =>
  withJson(
    ['activation_id', 'status', 'email', 'plan_id', 'plan_until', 'credit_usd', 'activated_at'],
    invites
      .command('activate')
      .description('Activate an invitation; needs no login')
      .argument('<code>', 'from the invitation')
      .requiredOption('--email <address>', 'the address that was invited')
      .option('--name <name>', 'for a new account'),
  ).action(perform(activate));

async function activate(world: CommandWorld, { args: [code = ''], options }: Typed<Options>): Promise<void> {
  const client = await world.connect('none');
  printRecord(world, await client.invites.activate({ code, ...options }, { signal: world.signal }), LINES);
  world.err.write('Activated. Anyone who has no account yet gets a mail to claim it.\n');
}
