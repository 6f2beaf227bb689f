import type { MfaStatusResponse } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, withJson } from '../../command.ts';
import { MfaStatusResponseFields } from '../../generated/fields.ts';
import { type Column, printRecord } from '../../print.ts';

const LINES: readonly Column<MfaStatusResponse>[] = [
  { title: 'Second factor', of: ({ enabled, pending }) => (enabled ? 'on' : pending ? 'begun, not confirmed' : 'off') },
  { title: 'On since', of: ({ enabled_at }) => enabled_at },
  { title: 'Recovery codes left', of: ({ recovery_codes_left }) => recovery_codes_left },
];

export const mfaStatus = (mfa: Command, perform: Perform): Command =>
  withJson(MfaStatusResponseFields, mfa.command('status').description('Show whether a login needs a second factor')).action(perform(show));

async function show(world: CommandWorld): Promise<void> {
  const client = await world.connect();
  printRecord(world, await client.mfa.status({ signal: world.signal }), LINES);
}
